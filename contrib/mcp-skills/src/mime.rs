//! The media type of a file by its name.

/// The media type of a directory resource.
pub(crate) const DIRECTORY: &str = "inode/directory";

/// The media type of every `SKILL.md`.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// The media type of a file of this name with these bytes.
///
/// The extension decides, in upper or lower case. Without a known one, UTF-8 is `text/plain` and the rest is
/// `application/octet-stream`.
pub(crate) fn of(name: &str, bytes: &[u8]) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("md" | "markdown") => MARKDOWN,
        Some("txt" | "text" | "log") => "text/plain",
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("csv") => "text/csv",
        Some("tsv") => "text/tab-separated-values",
        Some("js" | "mjs" | "cjs") => "text/javascript",
        Some("ts" | "mts" | "cts") => "text/x-typescript",
        Some("py") => "text/x-python",
        Some("sh" | "bash") => "text/x-shellscript",
        Some("rs") => "text/x-rust",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("toml") => "application/toml",
        Some("xml" | "xsd") => "application/xml",
        Some("sql") => "application/sql",
        Some("pdf") => "application/pdf",
        Some("zip") => "application/zip",
        Some("gz") => "application/gzip",
        Some("wasm") => "application/wasm",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("pptx") => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("svg") => "image/svg+xml",
        Some("ttf") => "font/ttf",
        Some("otf") => "font/otf",
        Some("woff2") => "font/woff2",
        Some("mp3") => "audio/mpeg",
        Some("wav") => "audio/wav",
        Some("mp4") => "video/mp4",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_and_then_the_bytes() {
        assert_eq!(of("SKILL.md", b""), "text/markdown");
        assert_eq!(of("FORMS.MD", b"\xff"), "text/markdown");
        assert_eq!(of("a.tar.gz", b""), "application/gzip");
        assert_eq!(of("LICENSE", b"MIT"), "text/plain");
        assert_eq!(of("data.bin", b"\xff\x00"), "application/octet-stream");
        assert_eq!(of("md", b"\xff"), "application/octet-stream");
    }
}
