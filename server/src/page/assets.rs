//! The files of the page, written by `server/page/build.mjs`: change them there.

use super::Asset;

/// All files of the page.
pub(super) const ASSETS: [Asset; 5] = [
    Asset {
        path: "/page/page-cf239285f588.js",
        content_type: "text/javascript; charset=utf-8",
        tag: "cf239285f588",
        text: include_bytes!("../../page/dist/page.js"),
        gzip: include_bytes!("../../page/dist/page.js.gz"),
    },
    Asset {
        path: "/page/page-4a86a5413f90.css",
        content_type: "text/css; charset=utf-8",
        tag: "4a86a5413f90",
        text: include_bytes!("../../page/dist/page.css"),
        gzip: include_bytes!("../../page/dist/page.css.gz"),
    },
    Asset {
        path: "/page/icon-4866b70dfc0e.svg",
        content_type: "image/svg+xml",
        tag: "4866b70dfc0e",
        text: include_bytes!("../../page/dist/icon.svg"),
        gzip: include_bytes!("../../page/dist/icon.svg.gz"),
    },
    Asset {
        path: "/",
        content_type: "text/html; charset=utf-8",
        tag: "57ed3ec329c8",
        text: include_bytes!("../../page/dist/index.html"),
        gzip: include_bytes!("../../page/dist/index.html.gz"),
    },
    Asset {
        path: "/page/licenses.txt",
        content_type: "text/plain; charset=utf-8",
        tag: "25957970979d",
        text: include_bytes!("../../page/dist/licenses.txt"),
        gzip: include_bytes!("../../page/dist/licenses.txt.gz"),
    },
];
