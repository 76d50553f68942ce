#include "client/cli/npy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/status.h"

namespace reprise::client {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

struct Code {
  absl::string_view numpy;  // kind and size
  absl::string_view datatype;
};
constexpr Code kCodes[] = {
    {"b1", "BOOL"},   {"u1", "UINT8"}, {"u2", "UINT16"}, {"u4", "UINT32"},
    {"u8", "UINT64"}, {"i1", "INT8"},  {"i2", "INT16"},  {"i4", "INT32"},
    {"i8", "INT64"},  {"f2", "FP16"},  {"f4", "FP32"},   {"f8", "FP64"},
    {"V2", "BF16"},
};

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a .npy file: ", what));
}

// A file that was cut off, or has something behind it.
absl::Status WrongSize(absl::string_view data,
                       const std::vector<int64_t>& shape, size_t width) {
  return absl::InvalidArgumentError(
      absl::StrCat("it holds ", data.size(), " bytes of data, but its shape ",
                   ShapeText(shape), " takes ", width, " for each element"));
}

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

// The text after "'key':", up to the end of the header; empty if there is none.
absl::string_view After(absl::string_view header, absl::string_view key) {
  for (const char* quote : {"'", "\""}) {
    const std::string quoted = absl::StrCat(quote, key, quote);
    const size_t at = header.find(quoted);
    if (at == absl::string_view::npos) continue;
    absl::string_view rest = header.substr(at + quoted.size());
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (!absl::ConsumePrefix(&rest, ":")) continue;
    return absl::StripLeadingAsciiWhitespace(rest);
  }
  return {};
}

absl::StatusOr<std::vector<int64_t>> ParseShape(absl::string_view text) {
  const size_t end = text.find(')');
  if (!absl::ConsumePrefix(&text, "(") || end == absl::string_view::npos) {
    return Bad("its header has no shape");
  }
  std::vector<int64_t> shape;
  for (absl::string_view part : absl::StrSplit(text.substr(0, end - 1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0) {
      return Bad(absl::StrCat("\"", part, "\" is no dimension"));
    }
    shape.push_back(dim);
  }
  return shape;
}

absl::StatusOr<Header> ParseHeader(absl::string_view text) {
  Header header;
  absl::string_view descr = After(text, "descr");
  if (absl::StartsWith(descr, "[")) {
    return absl::InvalidArgumentError(
        "a structured array; save its fields one by one");
  }
  if (descr.size() < 2 || (descr[0] != '\'' && descr[0] != '"')) {
    return Bad("its header has no descr");
  }
  const size_t end = descr.find(descr[0], 1);
  if (end == absl::string_view::npos) return Bad("its header has no descr");
  header.descr = std::string(descr.substr(1, end - 1));
  header.fortran = absl::StartsWith(After(text, "fortran_order"), "True");
  CLIENT_ASSIGN_OR_RETURN(header.shape, ParseShape(After(text, "shape")));
  return header;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto add = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | (code >> 6));
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3F));
    add(0x80 | ((code >> 6) & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

uint32_t LittleEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

// `width` bytes of S, or of U in UTF-32, without the padding zeros.
std::string StringItem(char kind, absl::string_view item) {
  std::string out;
  if (kind == 'S') {
    out = std::string(item);
  } else {
    std::vector<uint32_t> codes;
    for (size_t i = 0; i + 4 <= item.size(); i += 4) {
      codes.push_back(LittleEndian(item.substr(i, 4)));
    }
    while (!codes.empty() && codes.back() == 0) codes.pop_back();
    for (const uint32_t code : codes) AppendUtf8(code, out);
    return out;
  }
  while (!out.empty() && out.back() == '\0') out.pop_back();
  return out;
}

absl::StatusOr<Tensor> StringTensor(char kind, size_t characters,
                                    std::vector<int64_t> shape,
                                    absl::string_view data) {
  const size_t width = characters * (kind == 'U' ? 4 : 1);
  CLIENT_ASSIGN_OR_RETURN(const int64_t count, ElementCount(shape));
  int64_t expected = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(width), &expected) ||
      static_cast<int64_t>(data.size()) != expected ||
      count > (int64_t{1} << 31)) {
    return WrongSize(data, shape, width);
  }
  std::vector<std::string> elements;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    elements.push_back(StringItem(kind, data.substr(i * width, width)));
  }
  return Tensor{"", "BYTES", std::move(shape), EncodeStrings(elements)};
}

// An error for what the wire has no form for; else `descr` is a byte order and
// then kind and size, such as "f4".
absl::Status CheckDescr(const std::string& descr) {
  if (descr.size() < 2 || !absl::StrContains("<>=|", descr.substr(0, 1))) {
    return Bad(absl::StrCat("descr \"", descr, "\""));
  }
  const absl::string_view code = absl::string_view(descr).substr(1);
  if (code[0] == 'O') {
    return absl::InvalidArgumentError(
        "an array of Python objects; save it with .astype('S') or a number "
        "type");
  }
  if (descr[0] == '>' && !absl::EndsWith(code, "1") && code[0] != 'S') {
    return absl::InvalidArgumentError(absl::StrCat(
        "big-endian data (", descr, "); save it with .astype('<", code, "')"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) return Bad("wrong magic");
  if (bytes.size() < 2) return Bad("it ends in its header");
  const int version = static_cast<unsigned char>(bytes[0]);
  if (version < 1 || version > 3) {
    return Bad(absl::StrCat("version ", version, " is not known"));
  }
  bytes.remove_prefix(2);
  const size_t prefix = version == 1 ? 2 : 4;
  if (bytes.size() < prefix) return Bad("it ends in its header");
  const size_t length = LittleEndian(bytes.substr(0, prefix));
  bytes.remove_prefix(prefix);
  if (bytes.size() < length) return Bad("it ends in its header");
  CLIENT_ASSIGN_OR_RETURN(Header header, ParseHeader(bytes.substr(0, length)));
  bytes.remove_prefix(length);

  if (header.fortran && header.shape.size() > 1) {
    return absl::InvalidArgumentError(
        "the array is in Fortran order; save it with np.ascontiguousarray");
  }
  CLIENT_RETURN_IF_ERROR(CheckDescr(header.descr));
  const absl::string_view code = absl::string_view(header.descr).substr(1);
  absl::string_view text = code;
  const char kind = absl::ConsumePrefix(&text, "S")   ? 'S'
                    : absl::ConsumePrefix(&text, "U") ? 'U'
                                                      : '\0';
  uint32_t characters = 0;
  if (kind != '\0' && absl::SimpleAtoi(text, &characters)) {
    return StringTensor(kind, characters, std::move(header.shape), bytes);
  }
  for (const Code& known : kCodes) {
    if (known.numpy != code) continue;
    Tensor tensor{"", std::string(known.datatype), std::move(header.shape),
                  std::string(bytes)};
    if (CheckTensor(tensor).ok()) return tensor;
    return WrongSize(bytes, tensor.shape,
                     ElementSize(tensor.datatype).value_or(0));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "dtype \"", header.descr, "\" has no counterpart in the protocol"));
}

absl::StatusOr<std::string> FormatNpy(const Tensor& tensor) {
  CLIENT_RETURN_IF_ERROR(CheckTensor(tensor));
  std::string descr;
  std::string data = tensor.bytes;
  if (tensor.datatype == "BYTES") {
    CLIENT_ASSIGN_OR_RETURN(const std::vector<std::string> elements,
                            DecodeStrings(tensor.bytes));
    size_t width = 1;
    for (const std::string& element : elements) {
      if (absl::EndsWith(element, absl::string_view("\0", 1))) {
        return absl::InvalidArgumentError(
            "an element ends in a zero byte, which .npy would lose");
      }
      width = std::max(width, element.size());
    }
    data.clear();
    for (std::string element : elements) {
      element.resize(width, '\0');
      data += element;
    }
    descr = absl::StrCat("|S", width);
  }
  for (const Code& known : kCodes) {
    if (known.datatype != tensor.datatype) continue;
    const bool ordered =
        !absl::EndsWith(known.numpy, "1") && known.numpy != "V2";
    descr = absl::StrCat(ordered ? "<" : "|", known.numpy);
  }
  std::string header = absl::StrCat(
      "{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
      absl::StrJoin(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "",
      "), }");
  // Spaces and a newline fill the header up, so that data begins at a multiple
  // of 64 bytes.
  const bool longer = header.size() + 75 > 65535;
  const size_t fixed = kMagic.size() + 2 + (longer ? 4 : 2);
  while ((fixed + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out(kMagic);
  out += longer ? '\x02' : '\x01';
  out += '\0';
  for (size_t i = 0; i < (longer ? 4U : 2U); ++i) {
    out += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  }
  return absl::StrCat(out, header, data);
}

}  // namespace reprise::client
