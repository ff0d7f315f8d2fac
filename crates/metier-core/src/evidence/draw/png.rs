//! Fields as PNG pictures in a data URI: one colour per pixel, blank where there is no value.

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

/// A picture of `width` by `height` pixels, row by row from the top.
pub fn data_uri(
    width: usize,
    height: usize,
    pixels: impl Iterator<Item = Option<[u8; 3]>>,
) -> String {
    let mut raw = Vec::with_capacity(height * (4 * width + 1));
    for (i, pixel) in pixels.take(width * height).enumerate() {
        if i % width == 0 {
            // Each row says how it is filtered: not at all.
            raw.push(0);
        }
        match pixel {
            Some([r, g, b]) => raw.extend([r, g, b, 255]),
            None => raw.extend([0; 4]),
        }
    }
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits per channel, red–green–blue–alpha, the only compression and filter, not interlaced.
    header.extend([8, 6, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &deflate(&raw));
    chunk(&mut file, b"IEND", &[]);
    format!("data:image/png;base64,{}", base64(&file))
}

fn deflate(raw: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing into memory cannot fail.
    let _ = encoder.write_all(raw);
    encoder.finish().unwrap_or_default()
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let mut sum = Crc::new();
    for part in [kind, content] {
        sum.update(part);
        file.extend(part);
    }
    file.extend(sum.sum().to_be_bytes());
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { letter as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_by_the_book() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_end_of_a_picture_is_known() {
        // The empty last chunk has the same bytes in every PNG file.
        let mut file = Vec::new();
        chunk(&mut file, b"IEND", &[]);
        assert_eq!(file, [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82]);
    }
}
