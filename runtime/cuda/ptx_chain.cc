#include "runtime/cuda/ptx_chain.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace reprise::cuda {
namespace {

using kernels::ChainWalk;

// A number as PTX writes it, to the bit.
std::string Immediate(float number) {
  return absl::StrCat(
      "0f", absl::Hex(std::bit_cast<uint32_t>(number), absl::kZeroPad8));
}

// Writes the body line by line; every result has a register of its own.
class Writer {
 public:
  std::string text() const { return text_; }

  void Line(absl::string_view line) {
    absl::StrAppend(&text_, "  ", line, "\n");
  }
  // A new register of a kind: r (32 bits), d (64 bits), h (16 bits), f (FP32),
  // p (a predicate).
  std::string Register(char kind) {
    return absl::StrCat("%", absl::string_view(&kind, 1),
                        ++counts_[KindOf(kind)]);
  }
  // One instruction whose result is new.
  template <typename... Operands>
  std::string Make(char kind, absl::string_view instruction,
                   const Operands&... operands) {
    std::string result = Register(kind);
    std::string line = absl::StrCat(instruction, " ", result);
    (absl::StrAppend(&line, ", ", operands), ...);
    Line(line + ";");
    return result;
  }
  template <typename... Operands>
  std::string F(absl::string_view instruction, const Operands&... operands) {
    return Make('f', instruction, operands...);
  }

  std::string Declarations() const {
    return absl::StrCat("  .reg .b32 %r<", counts_[0] + 1,
                        ">;\n  .reg .b64 %d<", counts_[1] + 1,
                        ">;\n  .reg .b16 %h<", counts_[2] + 1,
                        ">;\n  .reg .f32 %f<", counts_[3] + 1,
                        ">;\n  .reg .pred %p<", counts_[4] + 1, ">;\n");
  }

 private:
  static size_t KindOf(char kind) {
    return absl::string_view("rdhfp").find(kind);
  }

  std::string text_;
  int counts_[5] = {};
};

// The pieces of the functions. NaN goes the way that kernels/functions.h sends
// it: what compares false.
class Functions {
 public:
  explicit Functions(Writer& writer) : w_(writer) {}

  std::string Apply(const ChainLink& link, const std::string& a,
                    const std::string& b) {
    switch (link.op) {
      case ChainOp::kAdd:
        return w_.F("add.rn.f32", a, b);
      case ChainOp::kSub:
        return w_.F("sub.rn.f32", a, b);
      case ChainOp::kMul:
        return w_.F("mul.rn.f32", a, b);
      case ChainOp::kDiv:
        return w_.F("div.rn.f32", a, b);
      case ChainOp::kMax:
        return Choose("gt", a, b);
      case ChainOp::kMin:
        return Choose("lt", a, b);
      default:
        return ApplyToOne(link, a);
    }
  }

 private:
  // then where `x compare y`, else otherwise.
  std::string Select(absl::string_view compare, const std::string& x,
                     const std::string& y, const std::string& then,
                     const std::string& otherwise) {
    const std::string p =
        w_.Make('p', absl::StrCat("setp.", compare, ".f32"), x, y);
    return w_.F("selp.f32", then, otherwise, p);
  }
  // b where it compares so with a or is NaN, else a.
  std::string Choose(absl::string_view compare, const std::string& a,
                     const std::string& b) {
    return Select("nan", b, b, b, Select(compare, b, a, b, a));
  }
  std::string Negated(const std::string& x) { return w_.F("neg.f32", x); }
  std::string Times(const std::string& x, float y) {
    return w_.F("mul.rn.f32", x, Immediate(y));
  }
  std::string Plus(const std::string& x, float y) {
    return w_.F("add.rn.f32", x, Immediate(y));
  }
  std::string Exp(const std::string& x) {
    return w_.F("ex2.approx.f32", Times(x, 1.44269504F));
  }
  // 1 / (1 + e^-x)
  std::string Sigmoid(const std::string& x) {
    return w_.F("rcp.rn.f32", Plus(Exp(Negated(x)), 1));
  }
  // 1 - 2 / (e^2x + 1); near 0, where that cancels, x - x^3 / 3.
  std::string Tanh(const std::string& x) {
    const std::string far =
        w_.F("fma.rn.f32", w_.F("rcp.rn.f32", Plus(Exp(Times(x, 2)), 1)),
             Immediate(-2), Immediate(1));
    const std::string cube = w_.F("mul.rn.f32", w_.F("mul.rn.f32", x, x), x);
    const std::string near = w_.F("fma.rn.f32", cube, Immediate(-1.0F / 3), x);
    return Select("lt", w_.F("abs.f32", x), Immediate(0.02F), near, far);
  }
  // Abramowitz and Stegun 7.1.26, within 3e-7; near 0 2x / sqrt(pi).
  std::string Erf(const std::string& x) {
    const std::string size = w_.F("abs.f32", x);
    const std::string t =
        w_.F("rcp.rn.f32",
             w_.F("fma.rn.f32", size, Immediate(0.3275911F), Immediate(1)));
    std::string sum = Immediate(1.061405429F);
    for (const float factor :
         {-1.453152027F, 1.421413741F, -0.284496736F, 0.254829592F}) {
      sum = w_.F("fma.rn.f32", sum, t, Immediate(factor));
    }
    const std::string tail = w_.F("mul.rn.f32", w_.F("mul.rn.f32", sum, t),
                                  Exp(Negated(w_.F("mul.rn.f32", size, size))));
    const std::string far = w_.F("sub.rn.f32", Immediate(1), tail);
    const std::string whole =
        Select("lt", size, Immediate(1e-3F), Times(size, 1.12837917F), far);
    return w_.F("copysign.f32", x, whole);
  }
  std::string Gate(const std::string& x, float alpha, float beta) {
    const std::string line =
        w_.F("fma.rn.f32", x, Immediate(alpha), Immediate(beta));
    const std::string low =
        Select("gt", line, Immediate(1), Immediate(1), line);
    return Select("lt", low, Immediate(0), Immediate(0), low);
  }
  std::string HalfOf(const std::string& x, const std::string& gate) {
    return w_.F("mul.rn.f32", Times(x, 0.5F), Plus(gate, 1));
  }
  std::string GeluTanh(const std::string& x) {
    const std::string square = w_.F("mul.rn.f32", x, x);
    const std::string factor =
        w_.F("fma.rn.f32", square, Immediate(0.044715F), Immediate(1));
    return HalfOf(x, Tanh(Times(w_.F("mul.rn.f32", factor, x), 0.797884561F)));
  }
  std::string Clip(const std::string& x, float low, float high) {
    const std::string raised =
        Select("lt", x, Immediate(low), Immediate(low), x);
    return Select("gt", raised, Immediate(high), Immediate(high), raised);
  }

  std::string ApplyToOne(const ChainLink& link, const std::string& x) {
    switch (link.op) {
      case ChainOp::kNeg:
        return Negated(x);
      case ChainOp::kAbs:
        return w_.F("abs.f32", x);
      case ChainOp::kRelu:
        return Select("lt", x, Immediate(0), Immediate(0), x);
      case ChainOp::kLeakyRelu:
        return Select("lt", x, Immediate(0), Times(x, link.alpha), x);
      case ChainOp::kClip:
        return Clip(x, link.alpha, link.beta);
      case ChainOp::kExp:
        return Exp(x);
      case ChainOp::kLog:
        return Times(w_.F("lg2.approx.f32", x), 0.693147181F);
      case ChainOp::kSqrt:
        return w_.F("sqrt.rn.f32", x);
      case ChainOp::kReciprocal:
        return w_.F("rcp.rn.f32", x);
      case ChainOp::kSquare:
        return w_.F("mul.rn.f32", x, x);
      case ChainOp::kErf:
        return Erf(x);
      case ChainOp::kTanh:
        return Tanh(x);
      case ChainOp::kSigmoid:
        return Sigmoid(x);
      case ChainOp::kHardSigmoid:
        return Gate(x, link.alpha, link.beta);
      case ChainOp::kHardSwish:
        return w_.F("mul.rn.f32", x, Gate(x, 1.0F / 6, 0.5F));
      case ChainOp::kGeluErf:
        return HalfOf(x, Erf(Times(x, 0.707106781F)));
      default:
        return GeluTanh(x);
    }
  }

  Writer& w_;
};

// One kernel.
class ChainWriter {
 public:
  ChainWriter(const Chain& chain, const ChainWalk& walk)
      : chain_(chain), walk_(walk) {}

  std::string Write(absl::string_view name) {
    const std::string step = Start();
    const std::vector<std::string> offsets = Offsets(step);
    std::vector<std::vector<std::string>> loaded;
    for (size_t k = 0; k < chain_.inputs.size(); ++k) {
      loaded.push_back(LoadPack(k, offsets[k]));
    }
    std::vector<std::string> results;
    results.reserve(static_cast<size_t>(walk_.pack));
    for (int lane = 0; lane < walk_.pack; ++lane) {
      results.push_back(Lane(loaded, static_cast<size_t>(lane)));
    }
    Store(results, step);
    return absl::StrCat(
        ".version 6.4\n.target sm_75\n.address_size 64\n\n.visible .entry ",
        name, "(", Parameters(), ")\n.maxntid 256, 1, 1\n{\n",
        w_.Declarations(), w_.text(), "DONE:\n  ret;\n}\n");
  }

 private:
  std::string Parameters() const {
    std::string text;
    for (size_t k = 0; k <= chain_.inputs.size(); ++k) {
      absl::StrAppend(&text, ".param .u64 p", k, ", ");
    }
    return absl::StrCat(text, ".param .align 8 .b8 walk[", sizeof(ChainWalk),
                        "]");
  }

  static std::string WalkField(size_t offset) {
    return absl::StrCat("[walk+", offset, "]");
  }
  // The low halves of the walk's 64-bit numbers: it is narrow.
  std::string Dim(int axis) {
    return w_.Make('r', "ld.param.u32",
                   WalkField(offsetof(ChainWalk, dims) +
                             static_cast<size_t>(axis) * sizeof(int64_t)));
  }
  std::string Stride(size_t operand, int axis) {
    return w_.Make('r', "ld.param.u32",
                   WalkField(offsetof(ChainWalk, strides) +
                             (operand * kernels::kMaxWalkAxes +
                              static_cast<size_t>(axis)) *
                                 sizeof(int64_t)));
  }

  // The step of this thread; those beyond the last are done.
  std::string Start() {
    const std::string block = w_.Make('r', "mov.u32", "%ctaid.x");
    const std::string threads = w_.Make('r', "mov.u32", "%ntid.x");
    const std::string thread = w_.Make('r', "mov.u32", "%tid.x");
    std::string step = w_.Make('r', "mad.lo.u32", block, threads, thread);
    const std::string count =
        w_.Make('r', "ld.param.u32", WalkField(offsetof(ChainWalk, count)));
    const std::string beyond = w_.Make('p', "setp.ge.u32", step, count);
    w_.Line(absl::StrCat("@", beyond, " bra DONE;"));
    return step;
  }

  // In elements, for each input.
  std::vector<std::string> Offsets(std::string step) {
    std::vector<std::string> offsets(chain_.inputs.size(), "0");
    for (int axis = walk_.axes - 1; axis >= 0; --axis) {
      std::string index = step;
      if (axis > 0) {
        const std::string dim = Dim(axis);
        const std::string rest = w_.Make('r', "div.u32", step, dim);
        const std::string done = w_.Make('r', "mul.lo.u32", rest, dim);
        index = w_.Make('r', "sub.u32", step, done);
        step = rest;
      }
      for (size_t k = 0; k < offsets.size(); ++k) {
        offsets[k] =
            w_.Make('r', "mad.lo.u32", index, Stride(k, axis), offsets[k]);
      }
    }
    return offsets;
  }

  std::string Address(size_t parameter, const std::string& element,
                      DType type) {
    const std::string base =
        w_.Make('d', "ld.param.u64", absl::StrCat("[p", parameter, "]"));
    const std::string global = w_.Make('d', "cvta.to.global.u64", base);
    return w_.Make('d', "mad.wide.u32", element,
                   absl::StrCat(ElementSize(type)), global);
  }

  std::string ToFloat(const std::string& element, DType type) {
    if (type == DType::kFp32) return element;
    if (type == DType::kFp16) return w_.F("cvt.f32.f16", element);
    const std::string wide = w_.Make('r', "cvt.u32.u16", element);
    return w_.F("mov.b32", w_.Make('r', "shl.b32", wide, "16"));
  }

  // To nearest even; NaN stays one.
  std::string BFloat16Of(const std::string& x) {
    const std::string bits = w_.Make('r', "mov.b32", x);
    const std::string upper = w_.Make('r', "shr.u32", bits, "16");
    const std::string odd = w_.Make('r', "and.b32", upper, "1");
    const std::string up = w_.Make('r', "add.u32", odd, "32767");
    const std::string sum = w_.Make('r', "add.u32", bits, up);
    const std::string rounded = w_.Make('r', "shr.u32", sum, "16");
    const std::string quiet = w_.Make('r', "or.b32", upper, "64");
    const std::string nan = w_.Make('p', "setp.nan.f32", x, x);
    const std::string chosen = w_.Make('r', "selp.b32", quiet, rounded, nan);
    return w_.Make('h', "cvt.u16.u32", chosen);
  }
  std::string FromFloat(const std::string& x, DType type) {
    if (type == DType::kFp32) return x;
    if (type == DType::kFp16) return w_.Make('h', "cvt.rn.f16.f32", x);
    return BFloat16Of(x);
  }

  static absl::string_view Width(DType type) {
    return type == DType::kFp32 ? "f32" : "b16";
  }
  static std::string List(const std::vector<std::string>& registers) {
    std::string text;
    for (const std::string& one : registers) {
      absl::StrAppend(&text, text.empty() ? "{" : ", ", one);
    }
    return text + "}";
  }

  // Input k for each lane, as FP32.
  std::vector<std::string> LoadPack(size_t k, const std::string& offset) {
    const DType type = chain_.inputs[k];
    const std::string address = Address(k, offset, type);
    const char kind = type == DType::kFp32 ? 'f' : 'h';
    const auto lanes = static_cast<size_t>(walk_.pack);
    if (lanes == 1 || walk_.step[k] == 0) {
      const std::string one =
          w_.Make(kind, absl::StrCat("ld.global.", Width(type)),
                  absl::StrCat("[", address, "]"));
      return std::vector<std::string>(lanes, ToFloat(one, type));
    }
    std::vector<std::string> elements;
    for (size_t i = 0; i < lanes; ++i) elements.push_back(w_.Register(kind));
    w_.Line(absl::StrCat("ld.global.v", lanes, ".", Width(type), " ",
                         List(elements), ", [", address, "];"));
    for (std::string& element : elements) element = ToFloat(element, type);
    return elements;
  }

  std::string Lane(const std::vector<std::vector<std::string>>& loaded,
                   size_t lane) {
    std::vector<std::string> links;
    const auto operand = [&](const ChainOperand& from) {
      switch (from.kind) {
        case ChainOperand::Kind::kLink:
          return links[static_cast<size_t>(from.index)];
        case ChainOperand::Kind::kInput:
          return loaded[static_cast<size_t>(from.index)][lane];
        case ChainOperand::Kind::kNumber:
          break;
      }
      return w_.F("mov.f32", Immediate(from.number));
    };
    Functions functions(w_);
    for (const ChainLink& link : chain_.links) {
      const std::string a = operand(link.a);
      const bool two = link.op <= ChainOp::kMin;
      const std::string b = two ? operand(link.b) : "";
      links.push_back(functions.Apply(link, a, b));
    }
    return links.back();
  }

  void Store(const std::vector<std::string>& results, const std::string& step) {
    const DType type = chain_.output;
    std::vector<std::string> elements;
    elements.reserve(results.size());
    for (const std::string& result : results) {
      elements.push_back(FromFloat(result, type));
    }
    const std::string first =
        w_.Make('r', "mul.lo.u32", step, absl::StrCat(walk_.pack));
    const std::string address = Address(chain_.inputs.size(), first, type);
    const bool one = elements.size() == 1;
    w_.Line(absl::StrCat("st.global.",
                         one ? "" : absl::StrCat("v", elements.size(), "."),
                         Width(type), " [", address, "], ",
                         one ? elements[0] : List(elements), ";"));
  }

  const Chain& chain_;
  const ChainWalk& walk_;
  Writer w_;
};

// Tells texts apart.
uint64_t Fingerprint(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

GeneratedModule WriteChain(const Chain& chain, const ChainWalk& walk) {
  const std::string unnamed = ChainWriter(chain, walk).Write("");
  GeneratedModule module;
  module.name = absl::StrCat("reprise_chain_",
                             absl::Hex(Fingerprint(unnamed), absl::kZeroPad16));
  module.ptx = ChainWriter(chain, walk).Write(module.name);
  return module;
}

}  // namespace reprise::cuda
