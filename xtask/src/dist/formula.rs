//! The source archive, and the Homebrew formula that builds from it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{DEADLINE, Release};
use xtask::{Result, digest, process, root};

/// The template of the formula. Words between `@` are replaced.
const FORMULA: &str = "packaging/homebrew/universe-server.rb";

/// Makes the source archive and the formula.
///
/// # Errors
/// When git cannot make an archive, or the template contains an unknown word.
pub(super) fn make(release: &Release<'_>) -> Result<[PathBuf; 2]> {
    let name = format!("universe-{}", release.version);
    let source = release.to.join(format!("{name}.tar.gz"));
    let mut git = Command::new("git");
    git.current_dir(root())
        .args(["archive", "--format", "tar.gz", "--prefix"])
        .arg(format!("{name}/"))
        .arg("--output")
        .arg(&source)
        .arg("HEAD");
    process::succeed(&mut git, DEADLINE)?;
    let text = filled(
        &fs::read_to_string(root().join(FORMULA))?,
        &[
            ("@HOMEPAGE@", &release.arguments.base_url),
            ("@URL@", &release.url(&source)),
            ("@VERSION@", &release.version),
            ("@SHA256@", &digest(&source)?),
        ],
    )?;
    let formula = release.to.join("universe-server.rb");
    fs::write(&formula, text)?;
    Ok([source, formula])
}

/// The text with each word replaced.
fn filled(text: &str, words: &[(&str, &str)]) -> Result<String> {
    let mut filled = text.to_owned();
    for (word, meaning) in words {
        if !filled.contains(word) {
            return Err(format!("the formula has no {word}").into());
        }
        filled = filled.replace(word, meaning);
    }
    if filled.contains("\"@") {
        Err("the formula has a word that nothing fills in".into())
    } else {
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn every_word_is_filled_in() {
        assert_eq!(filled("a \"@B@\"", &[("@B@", "c")]).expect("filled"), "a \"c\"");
        assert!(filled("a", &[("@B@", "c")]).is_err());
        assert!(filled("\"@A@\" \"@B@\"", &[("@B@", "c")]).is_err());
    }
}
