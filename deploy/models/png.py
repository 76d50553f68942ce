"""Writes greyscale PNG files with nothing but the standard library."""
import struct
import zlib


def _chunk(kind, body):
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def write_grey(path, rows):
    """`rows`: a list of equally long rows of integers in 0..255."""
    height, width = len(rows), len(rows[0])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    scanlines = b"".join(b"\0" + bytes(row) for row in rows)  # 0: no filter
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header)
                   + _chunk(b"IDAT", zlib.compress(scanlines, 9))
                   + _chunk(b"IEND", b""))
