//! A site that embeds the widget: pages made up by a test, on an origin (and a site) of their own, with headers.

use crate::Outcome;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

/// One file of the site.
#[derive(Debug, Clone)]
pub struct HostFile {
    path: String,
    kind: &'static str,
    headers: Vec<String>,
    body: Vec<u8>,
    /// Bytes after which the connection breaks off.
    sent: usize,
}

impl HostFile {
    /// A file at `path` (from `/` on), of a media type.
    pub fn new(path: &str, kind: &'static str, body: impl Into<Vec<u8>>) -> HostFile {
        let body = body.into();
        HostFile {
            path: path.to_owned(),
            kind,
            headers: Vec::new(),
            sent: body.len(),
            body,
        }
    }

    /// One whose connection breaks off after half of it, every time.
    #[must_use]
    pub fn broken_off(mut self) -> HostFile {
        self.sent = self.body.len() / 2;
        self
    }

    /// A page.
    pub fn html(path: &str, body: &str) -> HostFile {
        HostFile::new(path, "text/html; charset=utf-8", body)
    }

    /// With a header, `Name: value`.
    #[must_use]
    pub fn header(mut self, line: &str) -> HostFile {
        self.headers.push(line.to_owned());
        self
    }
}

/// A running site.
#[derive(Debug)]
pub struct Host {
    /// Its origin. It is called `localhost`, the widget's server by number: two sites to the browser.
    pub origin: String,
}

impl Host {
    /// Serves `files` on a free port until the test's process ends.
    pub fn serve(files: Vec<HostFile>) -> Outcome<Host> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let origin = format!("http://localhost:{}", listener.local_addr()?.port());
        let files: HashMap<String, HostFile> =
            files.into_iter().map(|f| (f.path.clone(), f)).collect();
        let files = Arc::new(files);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let files = Arc::clone(&files);
                // A browser that goes away in the middle of an answer is no fault of the site.
                std::thread::spawn(move || drop(answer(stream, &files)));
            }
        });
        Ok(Host { origin })
    }
}

/// Answers one request and closes.
fn answer(mut stream: TcpStream, files: &HashMap<String, HostFile>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
    }
    let target = first.split_whitespace().nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default();
    let (status, kind, headers, body, sent) = match files.get(path) {
        Some(file) => (
            "200 OK",
            file.kind,
            file.headers.join("\r\n"),
            file.body.as_slice(),
            file.sent,
        ),
        // Browsers ask for an icon on their own account; that none is there is no error of the page.
        None if path == "/favicon.ico" => {
            ("204 No Content", "image/x-icon", String::new(), &[][..], 0)
        }
        None => (
            "404 Not Found",
            "text/plain",
            String::new(),
            &b"no such file"[..],
            12,
        ),
    };
    let headers = if headers.is_empty() {
        headers
    } else {
        format!("{headers}\r\n")
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body.get(..sent).unwrap_or(body))
}
