//! A small static server for the built page, on the loopback interface only.

use crate::run::{Failure, Result, say};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The longest request head that is read, in bytes. A scenario's address is far shorter.
const LONGEST_HEAD: u64 = 64 * 1024;
/// How long a silent connection is kept.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder served under a path, as a static host would do it.
#[derive(Debug)]
pub struct Site {
    listener: TcpListener,
    folder: PathBuf,
    mount: String,
}

impl Site {
    /// Takes a port of the loopback interface; 0 takes any free one.
    pub fn listen(port: u16) -> Result<TcpListener> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            Failure(format!(
                "port {port} cannot be opened ({error}): choose another with --port"
            ))
        })
    }

    /// Serves `folder` under `mount` (`/` or `/a/b/`) on a port that was taken with [`Site::listen`].
    pub fn open_on(listener: TcpListener, folder: &Path, mount: &str) -> Result<Site> {
        if !folder.join("index.html").is_file() {
            return Err(Failure(format!(
                "{} holds no index.html: build the page first with `cargo xtask build`",
                folder.display()
            )));
        }
        Ok(Site {
            listener,
            folder: folder.to_path_buf(),
            mount: mount.to_owned(),
        })
    }

    /// Serves `folder` under `mount` on any free port.
    pub fn open(folder: &Path, mount: &str) -> Result<Site> {
        Site::open_on(Site::listen(0)?, folder, mount)
    }

    /// The address of the page.
    pub fn url(&self) -> Result<String> {
        let address = self
            .listener
            .local_addr()
            .map_err(|error| Failure(format!("the server has no address: {error}")))?;
        Ok(format!("http://{address}{}", self.mount))
    }

    /// Answers requests, a thread for each connection, until the program ends.
    pub fn run(self) {
        let site = Arc::new((self.folder, self.mount));
        for stream in self.listener.incoming() {
            match stream {
                Ok(stream) => {
                    let site = Arc::clone(&site);
                    std::thread::spawn(move || {
                        // A browser that goes away in the middle of an answer is no fault of the server.
                        let _ = answer_all(stream, &site.0, &site.1);
                    });
                }
                Err(error) => say(format_args!("a connection was lost: {error}")),
            }
        }
    }
}

/// Answers the requests of one connection until the other side closes it.
fn answer_all(mut stream: TcpStream, folder: &Path, mount: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = Vec::new();
        let mut limited = reader.by_ref().take(LONGEST_HEAD);
        loop {
            let before = head.len();
            if limited.read_until(b'\n', &mut head)? == 0 {
                return Ok(());
            }
            if matches!(&head[before..], b"\n" | b"\r\n") {
                break;
            }
        }
        let head = String::from_utf8_lossy(&head);
        let mut words = head.split_whitespace();
        let method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        let answer = match method {
            "GET" | "HEAD" => answer(target, folder, mount).packed(accepts_brotli(&head)),
            _ => Answer::text(405, "only GET and HEAD are answered"),
        };
        stream.write_all(answer.head().as_bytes())?;
        if method != "HEAD" {
            stream.write_all(&answer.body)?;
        }
    }
}

struct Answer {
    status: u16,
    kind: &'static str,
    location: Option<String>,
    file: Option<PathBuf>,
    packed: bool,
    body: Vec<u8>,
}

impl Answer {
    fn text(status: u16, text: &str) -> Answer {
        Answer {
            status,
            kind: "text/plain; charset=utf-8",
            location: None,
            file: None,
            packed: false,
            body: text.as_bytes().to_vec(),
        }
    }

    /// The same answer in brotli, where the build left the file so and the browser takes it.
    fn packed(mut self, accepted: bool) -> Answer {
        let packed = self
            .file
            .as_deref()
            .filter(|_| accepted)
            .and_then(|file| std::fs::read(packed_name(file)).ok());
        if let Some(body) = packed {
            self.body = body;
            self.packed = true;
        }
        self
    }

    /// How long a browser may keep it: a name with a hash never means anything else.
    fn cache_control(&self) -> &'static str {
        let hashed = self.file.as_deref().is_some_and(has_hash);
        if hashed {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        }
    }

    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            301 => "Moved Permanently",
            405 => "Method Not Allowed",
            _ => "Not Found",
        };
        let location = match &self.location {
            Some(location) => format!("Location: {location}\r\n"),
            None => String::new(),
        };
        let encoding = if self.packed {
            "Content-Encoding: br\r\n"
        } else {
            ""
        };
        format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{encoding}Vary: Accept-Encoding\r\n{location}Cache-Control: {}\r\nX-Content-Type-Options: nosniff\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
            self.cache_control()
        )
    }
}

/// What a request for `target` (a path with perhaps a query) gets.
fn answer(target: &str, folder: &Path, mount: &str) -> Answer {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (target, String::new()),
    };
    if !mount.is_empty() && format!("{path}/") == mount {
        return Answer {
            location: Some(format!("{mount}{query}")),
            ..Answer::text(301, "")
        };
    }
    let file = path
        .strip_prefix(mount)
        .and_then(percent_decoded)
        .and_then(|inside| file_of(folder, &inside));
    match file.map(|file| (std::fs::read(&file), file)) {
        Some((Ok(body), file)) => Answer {
            status: 200,
            kind: media_type(&file),
            location: None,
            file: Some(file),
            packed: false,
            body,
        },
        _ => Answer::text(404, "there is no such file here"),
    }
}

/// Whether the head of a request says that the browser reads brotli.
fn accepts_brotli(head: &str) -> bool {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"))
        .any(|(_, value)| value.split(',').any(|coding| coding.trim() == "br"))
}

/// Where the build leaves a file in brotli.
fn packed_name(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".br");
    PathBuf::from(name)
}

/// Whether a file's name carries the hash of its content: sixteen hexadecimal digits after a dash.
fn has_hash(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name.split(['-', '.', '_'])
            .any(|word| word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// The file that a decoded path names inside `folder`; none when it points outside of it.
fn file_of(folder: &Path, inside: &str) -> Option<PathBuf> {
    let inside = Path::new(inside);
    let stays = inside
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let file = folder.join(inside);
    match (stays, file.is_dir()) {
        (false, _) => None,
        (true, true) => Some(file.join("index.html")),
        (true, false) => Some(file),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt" | "md" | "csv") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> (tempdir::Dir, PathBuf) {
        let dir = tempdir::Dir::new();
        let folder = dir.path().join("dist");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(dir.path().join("secret"), "outside").unwrap();
        std::fs::write(folder.join("index.html"), "<p>page</p>").unwrap();
        std::fs::write(folder.join("sub/a b.wasm"), [0, 1]).unwrap();
        (dir, folder)
    }

    /// A folder that is removed again.
    mod tempdir {
        use std::path::{Path, PathBuf};
        use std::sync::atomic::{AtomicU32, Ordering};

        pub struct Dir(PathBuf);

        impl Dir {
            pub fn new() -> Dir {
                static COUNT: AtomicU32 = AtomicU32::new(0);
                let number = COUNT.fetch_add(1, Ordering::Relaxed);
                let name = format!("cardfit-serve-{}-{number}", std::process::id());
                let dir = std::env::temp_dir().join(name);
                std::fs::create_dir_all(&dir).unwrap();
                Dir(dir)
            }

            pub fn path(&self) -> &Path {
                &self.0
            }
        }

        impl Drop for Dir {
            fn drop(&mut self) {
                let _ = std::fs::remove_dir_all(&self.0);
            }
        }
    }

    #[test]
    fn a_page_under_a_sub_path_is_found_with_and_without_a_query() {
        let (_keep, folder) = site();
        for target in ["/a/b/", "/a/b/?lang=en", "/a/b/index.html"] {
            let answer = answer(target, &folder, "/a/b/");
            assert_eq!(
                (answer.status, answer.kind),
                (200, "text/html; charset=utf-8")
            );
            assert_eq!(answer.body, b"<p>page</p>");
        }
    }

    #[test]
    fn the_sub_path_without_its_slash_is_sent_on_with_its_query() {
        let (_keep, folder) = site();
        let answer = answer("/a/b?lang=en", &folder, "/a/b/");
        assert_eq!(answer.status, 301);
        assert_eq!(answer.location.as_deref(), Some("/a/b/?lang=en"));
    }

    #[test]
    fn webassembly_has_the_type_that_browsers_insist_on() {
        let (_keep, folder) = site();
        let answer = answer("/sub/a%20b.wasm", &folder, "/");
        assert_eq!((answer.status, answer.kind), (200, "application/wasm"));
    }

    #[test]
    fn a_file_is_sent_in_brotli_to_those_who_read_it() {
        let (_keep, folder) = site();
        let name = "main-0123456789abcdef.css";
        std::fs::write(folder.join(name), "plain").unwrap();
        std::fs::write(folder.join(format!("{name}.br")), "packed").unwrap();
        let asked =
            |head: &str| answer(&format!("/{name}"), &folder, "/").packed(accepts_brotli(head));
        let packed = asked("GET / HTTP/1.1\r\nAccept-Encoding: gzip, br\r\n");
        assert_eq!(
            (packed.body.as_slice(), packed.kind),
            (&b"packed"[..], "text/css; charset=utf-8")
        );
        assert!(packed.head().contains("Content-Encoding: br\r\n"));
        assert!(packed.head().contains("immutable"));
        let plain = asked("GET / HTTP/1.1\r\nAccept-Encoding: gzip\r\n");
        assert_eq!(plain.body, b"plain");
        assert!(!plain.head().contains("Content-Encoding"));
        assert!(answer("/", &folder, "/").head().contains("no-cache"));
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let (_keep, folder) = site();
        for target in [
            "/../secret",
            "/%2e%2e/secret",
            "/sub/../../secret",
            "//etc/passwd",
            "/%zz",
            "/%2",
            "secret",
        ] {
            assert_eq!(answer(target, &folder, "/").status, 404, "{target}");
        }
    }

    #[test]
    fn a_real_connection_is_answered_more_than_once() {
        let (_keep, folder) = site();
        let site = Site::open(&folder, "/").unwrap();
        let address = site.listener.local_addr().unwrap();
        std::thread::spawn(move || site.run());
        let mut stream = TcpStream::connect(address).unwrap();
        for target in ["/", "/missing"] {
            write!(stream, "GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("HTTP/1.1 404 Not Found\r\n"), "{text}");
    }
}
