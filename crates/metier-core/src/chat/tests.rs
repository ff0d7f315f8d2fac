use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

// A server for one answer: what it was sent comes back through the handle.
fn serve(status: &str, body: &str) -> (String, std::thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let handle = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head += &line;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        (head, String::from_utf8(body).unwrap())
    });
    (base, handle)
}

fn request(turn: u64) -> Request {
    Request {
        model: "small".into(),
        messages: vec![Message::system("be brief"), Message::user("name a sign")],
        temperature: 0.5,
        max_tokens: 20,
        turn,
    }
}

#[test]
fn a_live_endpoint_is_asked_and_recorded_and_replayed() {
    let (base, server) = serve("200 OK", r#"{"choices":[{"message":{"content":"fever"}}]}"#);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let live = Live::new(&base, "METIER_TEST_NO_KEY").unwrap();
    let mut recorder = Recorder::new(Box::new(live), &path);
    assert_eq!(recorder.complete(&request(1)).unwrap(), "fever");
    let (head, body) = server.join().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["messages"][1]["content"], "name a sign");
    assert!(body.get("turn").is_none());

    // The server is gone: only the recording can answer.
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.complete(&request(1)).unwrap(), "fever");
    let error = replay.complete(&request(2)).unwrap_err();
    assert!(error.message().starts_with("no recorded answer to request "), "{error}");
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn a_refusal_is_shown() {
    let (base, server) = serve("429 Too Many Requests", r#"{"error":"slow down"}"#);
    let mut live = Live::new(&base, "METIER_TEST_NO_KEY").unwrap();
    let error = live.complete(&request(1)).unwrap_err();
    server.join().unwrap();
    assert_eq!(
        error.message(),
        "the endpoint answered 429 Too Many Requests: {\"error\":\"slow down\"}"
    );
    let (base, server) = serve("200 OK", r#"{"choices":[]}"#);
    let error = Live::new(&base, "METIER_TEST_NO_KEY").unwrap().complete(&request(1)).unwrap_err();
    server.join().unwrap();
    assert_eq!(error.message(), "the answer holds no choices[0].message.content");
}

#[test]
fn questions_do_not_travel_unencrypted() {
    for base in ["http://10.0.0.1/v1", "http://127.0.0.1.example/v1", "http://[::2]/v1"] {
        let error = Live::new(base, "METIER_TEST_NO_KEY").unwrap_err();
        assert_eq!(error.message(), "would send the request over the network unencrypted");
    }
    for base in ["http://127.0.0.2:1/v1", "http://[::1]:1/v1", "http://localhost/v1"] {
        assert!(Live::new(base, "METIER_TEST_NO_KEY").is_ok(), "{base}");
    }
    assert!(Live::new("https://models.example/v1", "METIER_TEST_NO_KEY").is_ok());
    assert_eq!(
        Live::new("ftp://127.0.0.1", "METIER_TEST_NO_KEY").unwrap_err().message(),
        "is neither http nor https"
    );
}

#[test]
fn a_recording_says_which_line_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, "{\"request\":\"a\",\"response\":\"b\"}\nno\n").unwrap();
    let error = Replay::open(&path).unwrap_err();
    assert_eq!(error.location().row, Some(2));
}
