# Homebrew formula. `cargo xtask dist` fills in the address and the digest of the source archive.
class UniverseServer < Formula
  desc "Star-system universes over REST and the Model Context Protocol"
  homepage "@HOMEPAGE@"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--features", "postgres", *std_cargo_args(path: "server")
    generate_completions_from_executable(bin/"universe-server", "completions")
    system bin/"universe-server", "man", "man"
    man1.install Dir["man/*.1"]
  end

  service do
    run [opt_bin/"universe-server", "--data-dir", var/"universe"]
    keep_alive true
    log_path var/"log/universe-server.log"
    error_log_path var/"log/universe-server.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/universe-server --version")
    system bin/"universe-server", "generate", "--seed", "tea", "--name", "Test", "--data-dir", testpath/"data"
    assert_match "Test", shell_output("#{bin}/universe-server list --data-dir #{testpath}/data")
  end
end
