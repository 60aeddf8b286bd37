#include "troupe/ops/internal/fused_code.hpp"

#include <set>
#include <sstream>

namespace troupe::ops {

// The text of ops/kernel/gpu/scalar_functions.cuda.hpp, which the build embeds in the program.
extern const char* const scalar_functions_text;

namespace {

// Elements keep their memory format in loads and stores; halves are computed as float.
constexpr std::string_view preamble = R"(#define TROUPE_DEVICE __device__
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
template <class T> __device__ T load(T x) { return x; }
__device__ inline float load(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ inline float load(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
template <class R> struct storing {
  template <class T> __device__ static R store(T x) { return (R)x; }
};
template <> struct storing<f16> {
  __device__ static f16 store(float x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};
template <> struct storing<bf16> {
  __device__ static bf16 store(float x) {
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};
template <class T, int N> struct alignas(sizeof(T) * N) pack { T items[N]; };
struct steps { long rank, extents[8], strides[8]; };
template <class Index> __device__ long place(const steps& by, Index rest) {
  long found = 0;
  for (int axis = (int)by.rank - 1; axis >= 0; --axis) {
    Index extent = (Index)by.extents[axis], left = rest / extent;
    found += (long)(rest - left * extent) * by.strides[axis];
    rest = left;
  }
  return found;
}
)";
static_assert(max_rank == 8, "the preamble counts axes, too");

std::string_view c_name(dtype type) {
  switch (type) {
    case dtype::boolean: return "bool";
    case dtype::i8: return "signed char";
    case dtype::i16: return "short";
    case dtype::i32: return "int";
    case dtype::i64: return "long";
    case dtype::u8: return "unsigned char";
    case dtype::u16: return "unsigned short";
    case dtype::u32: return "unsigned";
    case dtype::u64: return "unsigned long";
    case dtype::f16: return "f16";
    case dtype::bf16: return "bf16";
    case dtype::f32: return "float";
    case dtype::f64: return "double";
    default: return "";
  }
}

// Returns the name in the definition of a functor, "struct tanh_fn { ...".
std::string_view name_of(std::string_view function) {
  function.remove_prefix(std::string_view{"struct "}.size());
  return function.substr(0, function.find(' '));
}

// Writes the parts of a kernel's source.
class kernel_source {
public:
  kernel_source(const fused_stages& stages, std::span<const dtype> inputs,
                const fused_variant& variant)
      : stages_(stages), inputs_(inputs), variant_(variant),
        result_type_(c_name(stages.stages.back().type)) {
    out_ << preamble << scalar_functions_text << "\nnamespace troupe::ops {\n";
  }

  // Writes the function of each stage's op.
  status write_functions(const registry& ops) {
    std::set<std::string_view> written;
    for (const auto& stage : stages_.stages) {
      auto* kernel = ops.find_kernel(stage.op->name, device_kind::gpu);
      auto* entry = kernel ? kernel->find(stage.operand_type) : nullptr;
      if (!entry || !entry->code)
        return failure(error_kind::unimplemented, stage.op->name, " of ", stage.operand_type,
                       " cannot be part of an expression on a GPU");
      functions_.emplace_back(entry->code);
      if (written.insert(functions_.back()).second)
        out_ << functions_.back() << '\n';
    }
    return {};
  }

  // Writes the function that computes one element.
  void write_compute() {
    out_ << "__device__ inline " << result_type_ << " compute(";
    for (size_t i = 0; i < inputs_.size(); ++i)
      out_ << (i ? ", " : "") << c_name(inputs_[i]) << " x" << i;
    out_ << ") {\n";
    for (size_t i = 0; i < inputs_.size(); ++i)
      out_ << "  auto v" << i << " = load(x" << i << ");\n";
    for (size_t s = 0; s < stages_.stages.size(); ++s) {
      const auto& stage = stages_.stages[s];
      out_ << "  auto v" << inputs_.size() + s << " = load(storing<" << c_name(stage.type)
           << ">::store(" << name_of(functions_[s]) << "{}(v" << stage.operands[0];
      if (stage.arity == 2)
        out_ << ", v" << stage.operands[1];
      out_ << ")));\n";
    }
    out_ << "  return storing<" << result_type_ << ">::store(v"
         << inputs_.size() + stages_.stages.size() - 1 << ");\n}\n} // namespace troupe::ops\n";
  }

  void write_kernel() {
    auto step_type = [&](size_t i) {
      return variant_.inputs[i] == beside::strided ? "steps" : "long";
    };
    out_ << "extern \"C\" __global__ void fused(long packs, long count, " << result_type_
         << "* out";
    for (size_t i = 0; i < inputs_.size(); ++i)
      out_ << ", const " << c_name(inputs_[i]) << "* in" << i << ", " << step_type(i) << " step"
           << i;
    out_ << ") {\n  typedef " << (variant_.narrow ? "unsigned" : "unsigned long") << " index;\n"
         << "  const long thread = (long)blockIdx.x * blockDim.x + threadIdx.x;\n";
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (variant_.inputs[i] == beside::single)
        out_ << "  const auto one" << i << " = *in" << i << ";\n";

    out_ << "  for (long p = thread; p < packs; p += (long)blockDim.x * gridDim.x) {\n"
         << "    const long first = p * " << variant_.width << ";\n";
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto type = concat("const pack<", c_name(inputs_[i]), ", ", variant_.width, '>');
      if (variant_.inputs[i] == beside::elementwise)
        out_ << "    const auto x" << i << " = ((" << type << "*)in" << i << ")[p];\n";
      else if (variant_.inputs[i] == beside::row)
        out_ << "    const auto x" << i << " = *(" << type << "*)(in" << i
             << " + (index)first % (index)step" << i << ");\n";
    }
    out_ << "    pack<" << result_type_ << ", " << variant_.width << "> made;\n"
         << "#pragma unroll\n    for (int k = 0; k < " << variant_.width << "; ++k)\n"
         << "      made.items[k] = troupe::ops::compute(";
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto packed = variant_.inputs[i] == beside::elementwise || variant_.inputs[i] == beside::row;
      out_ << (i ? ", " : "") << (packed ? concat('x', i, ".items[k]") : element(i, "first + k"));
    }
    out_ << ");\n    ((pack<" << result_type_ << ", " << variant_.width
         << ">*)out)[p] = made;\n  }\n"
         << "  const long rest = packs * " << variant_.width << " + thread;\n"
         << "  if (rest < count)\n    out[rest] = troupe::ops::compute(";
    for (size_t i = 0; i < inputs_.size(); ++i)
      out_ << (i ? ", " : "") << element(i, "rest");
    out_ << ");\n}\n";
  }

  std::string take() { return std::move(out_).str(); }

private:
  // The offset of input i's element for the output index `at`.
  std::string element(size_t i, std::string_view at) const {
    switch (variant_.inputs[i]) {
      case beside::elementwise: return concat("in", i, '[', at, ']');
      case beside::single: return concat("one", i);
      case beside::row: return concat("in", i, "[(index)(", at, ") % (index)step", i, ']');
      case beside::strided: break;
    }
    return concat("in", i, "[place(step", i, ", (index)(", at, "))]");
  }

  const fused_stages& stages_;
  const std::span<const dtype> inputs_;
  const fused_variant& variant_;
  const std::string_view result_type_;
  std::ostringstream out_;
  std::vector<std::string_view> functions_; // of the stages
};

} // namespace

result<std::string> fused_code(const fused_stages& stages, std::span<const dtype> inputs,
                               const registry& ops, const fused_variant& variant) {
  kernel_source source{stages, inputs, variant};
  TROUPE_TRY(source.write_functions(ops));
  source.write_compute();
  source.write_kernel();
  return source.take();
}

} // namespace troupe::ops
