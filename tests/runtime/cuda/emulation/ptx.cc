#include "tests/runtime/cuda/emulation/ptx.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/float16.h"

namespace reprise::emulation {
namespace {

float AsFloat(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
uint64_t AsBits(float value) { return std::bit_cast<uint32_t>(value); }

using Values = std::vector<uint64_t>;

// Of instructions that only compute.
uint64_t Wide(const Values& v) {
  return static_cast<uint32_t>(v[0]) * uint64_t{static_cast<uint32_t>(v[1])} +
         v[2];
}
uint64_t U32(uint64_t value) { return static_cast<uint32_t>(value); }

using Instruction = std::function<uint64_t(const Values&)>;
Instruction Floats(float (*fn)(float, float)) {
  return [fn](const Values& v) {
    return AsBits(fn(AsFloat(v[0]), v.size() > 1 ? AsFloat(v[1]) : 0));
  };
}
Instruction Test(bool (*fn)(float, float)) {
  return [fn](const Values& v) {
    return uint64_t{fn(AsFloat(v[0]), AsFloat(v[1]))};
  };
}
uint64_t Same(const Values& v) { return v[0]; }
uint64_t Chosen(const Values& v) { return v[2] != 0 ? v[0] : v[1]; }

const std::map<std::string, Instruction, std::less<>>& Instructions() {
  static const auto& all = *new std::map<std::string, Instruction, std::less<>>{
      {"mov.u32", Same},
      {"mov.b32", Same},
      {"mov.f32", Same},
      {"cvta.to.global.u64", Same},
      {"cvt.u32.u16", Same},
      {"cvt.u16.u32", [](const Values& v) { return v[0] & 0xffff; }},
      {"cvt.f32.f16",
       [](const Values& v) {
         return AsBits(Half::ToFloat(static_cast<uint16_t>(v[0])));
       }},
      {"cvt.rn.f16.f32",
       [](const Values& v) {
         return uint64_t{Half::FromFloat(AsFloat(v[0]))};
       }},
      {"mad.lo.u32", [](const Values& v) { return U32(v[0] * v[1] + v[2]); }},
      {"mad.wide.u32", Wide},
      {"mul.lo.u32", [](const Values& v) { return U32(v[0] * v[1]); }},
      {"add.u32", [](const Values& v) { return U32(v[0] + v[1]); }},
      {"sub.u32", [](const Values& v) { return U32(v[0] - v[1]); }},
      {"div.u32", [](const Values& v) { return v[0] / v[1]; }},
      {"shl.b32", [](const Values& v) { return U32(v[0] << v[1]); }},
      {"shr.u32", [](const Values& v) { return v[0] >> v[1]; }},
      {"and.b32", [](const Values& v) { return v[0] & v[1]; }},
      {"or.b32", [](const Values& v) { return v[0] | v[1]; }},
      {"selp.b32", Chosen},
      {"selp.f32", Chosen},
      {"setp.ge.u32", [](const Values& v) { return uint64_t{v[0] >= v[1]}; }},
      {"setp.lt.f32", Test([](float a, float b) { return a < b; })},
      {"setp.gt.f32", Test([](float a, float b) { return a > b; })},
      {"setp.nan.f32",
       Test([](float a, float b) { return std::isnan(a) || std::isnan(b); })},
      {"add.rn.f32", Floats([](float a, float b) { return a + b; })},
      {"sub.rn.f32", Floats([](float a, float b) { return a - b; })},
      {"mul.rn.f32", Floats([](float a, float b) { return a * b; })},
      {"div.rn.f32", Floats([](float a, float b) { return a / b; })},
      {"rcp.rn.f32", Floats([](float a, float) { return 1 / a; })},
      {"sqrt.rn.f32", Floats([](float a, float) { return std::sqrt(a); })},
      {"neg.f32", Floats([](float a, float) { return -a; })},
      {"abs.f32", Floats([](float a, float) { return std::fabs(a); })},
      {"ex2.approx.f32", Floats([](float a, float) { return std::exp2(a); })},
      {"lg2.approx.f32", Floats([](float a, float) { return std::log2(a); })},
      // The sign is the first's.
      {"copysign.f32",
       Floats([](float a, float b) { return std::copysign(b, a); })},
      {"fma.rn.f32", [](const Values& v) {
         return AsBits(std::fma(AsFloat(v[0]), AsFloat(v[1]), AsFloat(v[2])));
       }}};
  return all;
}

// One line of the body: "@p" or nothing, the instruction, its operands.
struct Line {
  std::string guard;
  std::string instruction;
  std::vector<std::string> operands;
};

Line Parse(absl::string_view text) {
  Line line;
  text = absl::StripSuffix(absl::StripAsciiWhitespace(text), ";");
  if (absl::ConsumePrefix(&text, "@")) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits(' ', 1));
    line.guard = parts.first;
    text = absl::string_view(text).substr(parts.first.size() + 1);
  }
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" ,{}[]"), absl::SkipEmpty());
  if (words.empty()) return line;
  line.instruction = words[0];
  line.operands.assign(words.begin() + 1, words.end());
  return line;
}

class PtxThread {
 public:
  PtxThread(const std::vector<Line>& lines, std::span<void* const> pointers,
            const std::vector<std::byte>& params)
      : lines_(lines), pointers_(pointers), params_(params) {}

  absl::Status Run(unsigned block, unsigned threads, unsigned thread) {
    registers_["%ctaid.x"] = block;
    registers_["%ntid.x"] = threads;
    registers_["%tid.x"] = thread;
    for (const Line& line : lines_) {
      if (line.instruction == "ret") return absl::OkStatus();
      if (line.instruction == "bra") {
        REPRISE_ASSIGN_OR_RETURN(const uint64_t taken, Value(line.guard));
        if (taken != 0) return absl::OkStatus();  // the end is the one target
        continue;
      }
      REPRISE_RETURN_IF_ERROR(Do(line));
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<uint64_t> Value(const std::string& operand) const {
    if (operand[0] == '%') {
      const auto it = registers_.find(operand);
      if (it == registers_.end()) return Bad(operand, "is read too early");
      return it->second;
    }
    if (absl::StartsWith(operand, "0f")) {
      return std::stoull(operand.substr(2), nullptr, 16);
    }
    uint64_t number = 0;
    if (!absl::SimpleAtoi(operand, &number)) return Bad(operand, "is nothing");
    return number;
  }

  absl::Status Set(const std::string& to, uint64_t value) {
    if (registers_.emplace(to, value).second) return absl::OkStatus();
    return Bad(to, "is written twice");
  }

  absl::Status LoadParameter(const Line& line) {
    const std::string& from = line.operands[1];
    uint64_t value = 0;
    if (absl::StartsWith(from, "walk+")) {
      std::memcpy(&value, params_.data() + std::stoul(from.substr(5)), 4);
    } else {
      const void* const pointer = pointers_[std::stoul(from.substr(1))];
      std::memcpy(&value, &pointer, sizeof(pointer));
    }
    return Set(line.operands[0], value);
  }

  // Elements one after the other; `address` is the operand that names them.
  absl::Status Transfer(const Line& line, size_t address, bool load) {
    REPRISE_ASSIGN_OR_RETURN(const uint64_t at, Value(line.operands[address]));
    const size_t bytes = absl::EndsWith(line.instruction, "b16") ? 2 : 4;
    const size_t lanes = line.operands.size() - 1;
    if (at % (bytes * lanes) != 0) return Bad(line.instruction, "not aligned");
    auto* memory = reinterpret_cast<std::byte*>(at);  // NOLINT
    for (size_t i = 0; i < lanes; ++i, memory += bytes) {
      const std::string& one = line.operands[load ? i : i + 1];
      uint64_t value = 0;
      if (load) {
        std::memcpy(&value, memory, bytes);
        REPRISE_RETURN_IF_ERROR(Set(one, value));
      } else {
        REPRISE_ASSIGN_OR_RETURN(value, Value(one));
        std::memcpy(memory, &value, bytes);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Do(const Line& line) {
    if (absl::StartsWith(line.instruction, "ld.param")) {
      return LoadParameter(line);
    }
    if (absl::StartsWith(line.instruction, "ld.global")) {
      return Transfer(line, line.operands.size() - 1, true);
    }
    if (absl::StartsWith(line.instruction, "st.global")) {
      return Transfer(line, 0, false);
    }
    const auto it = Instructions().find(line.instruction);
    if (it == Instructions().end()) return Bad(line.instruction, "is unknown");
    Values values;
    for (size_t i = 1; i < line.operands.size(); ++i) {
      REPRISE_ASSIGN_OR_RETURN(const uint64_t value, Value(line.operands[i]));
      values.push_back(value);
    }
    return Set(line.operands[0], it->second(values));
  }

  static absl::Status Bad(absl::string_view what, absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", why));
  }

  const std::vector<Line>& lines_;
  std::span<void* const> pointers_;
  const std::vector<std::byte>& params_;
  std::map<std::string, uint64_t> registers_;
};

// The lines between the braces, without declarations and labels.
std::vector<Line> BodyOf(absl::string_view ptx) {
  std::vector<Line> lines;
  bool inside = false;
  for (const absl::string_view text : absl::StrSplit(ptx, '\n')) {
    if (text == "{") inside = true;
    if (text == "}") inside = false;
    if (!inside || text == "{" || absl::StrContains(text, ".reg") ||
        absl::EndsWith(text, ":")) {
      continue;
    }
    lines.push_back(Parse(text));
  }
  return lines;
}

}  // namespace

absl::Status RunPtx(absl::string_view ptx, const cuda::KernelLaunch& launch,
                    std::span<void* const> pointers,
                    const std::vector<std::byte>& params) {
  const std::vector<Line> lines = BodyOf(ptx);
  for (unsigned block = 0; block < launch.grid.x; ++block) {
    for (unsigned i = 0; i < launch.block.x; ++i) {
      REPRISE_RETURN_IF_ERROR(
          PtxThread(lines, pointers, params).Run(block, launch.block.x, i));
    }
  }
  return absl::OkStatus();
}

}  // namespace reprise::emulation
