#include "troupe/devices/gpu/cuda/gemm.hpp"

#include "troupe/devices/gpu/cuda/libraries.hpp"

#include <cublasLt.h>

#include <cstring>
#include <map>
#include <tuple>
#include <vector>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtCreate);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtDestroy);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmul);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulAlgoGetHeuristic);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulDescCreate);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulDescDestroy);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulDescSetAttribute);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulPreferenceCreate);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulPreferenceDestroy);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatmulPreferenceSetAttribute);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatrixLayoutCreate);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatrixLayoutDestroy);
TROUPE_LIBRARY_FUNCTION(cublas_lt, cublasLtMatrixLayoutSetAttribute);

using layout = library_object<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using operation = library_object<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using preference = library_object<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

constexpr size_t max_workspace = 32 << 20;
constexpr int max_advice = 4;        // algorithms for a product, best first
constexpr size_t max_choices = 4096; // remembered; all are forgotten when there are more

// What the choice of an algorithm depends on: the product, and how its operands are aligned.
struct question {
  product of;
  bool rounds = false;
  uint32_t alignment[4] = {}; // of a, b, c and the bias
  cublasLtEpilogue_t last = CUBLASLT_EPILOGUE_DEFAULT;

  auto key() const {
    return std::tuple{of.type,      of.transpose_a, of.transpose_b, of.m,
                      of.n,         of.k,           of.batches,     of.stride_a,
                      of.stride_b,  of.stride_c,    rounds,         alignment[0],
                      alignment[1], alignment[2],   alignment[3],   last};
  }
  bool operator<(const question& other) const { return key() < other.key(); }
};

struct choice {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace;
};
using choices = std::shared_ptr<const std::vector<choice>>; // best first; empty where there is none

// A device's.
struct multiplier {
  ~multiplier() {
    if (handle && of->make_current())
      static_cast<void>(cublasLtDestroy(handle));
  }

  driver* of = nullptr;
  cublasLtHandle_t handle = nullptr; // may be used by several threads at once
  std::mutex mutex;                  // of what is known
  std::map<question, choices> known;
};

result<std::shared_ptr<multiplier>> make_multiplier(gpu_device& on) {
  auto made = std::make_shared<multiplier>();
  made->of = &on.driver();
  TROUPE_TRY(cublasLtCreate(&made->handle));
  return made;
}

uint32_t alignment_of(const void* memory) {
  auto place = reinterpret_cast<uintptr_t>(memory);
  uint32_t bytes = 256;
  while (place % bytes != 0)
    bytes /= 2;
  return bytes;
}

cudaDataType_t element_type(dtype type) {
  switch (type) {
    case dtype::f16: return CUDA_R_16F;
    case dtype::bf16: return CUDA_R_16BF;
    case dtype::f64: return CUDA_R_64F;
    default: return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type_of(const question& asked) {
  if (asked.of.type == dtype::f64)
    return CUBLAS_COMPUTE_64F;
  if (asked.of.type == dtype::f32 && asked.rounds)
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  return CUBLAS_COMPUTE_32F;
}

template <class Value>
status set(const operation& in, cublasLtMatmulDescAttributes_t which, const Value& value) {
  return cublasLtMatmulDescSetAttribute(in.get(), which, &value, sizeof(value));
}
template <class Value>
status set(const layout& in, cublasLtMatrixLayoutAttribute_t which, const Value& value) {
  return cublasLtMatrixLayoutSetAttribute(in.get(), which, &value, sizeof(value));
}
template <class Value>
status set(const preference& in, cublasLtMatmulPreferenceAttributes_t which, const Value& value) {
  return cublasLtMatmulPreferenceSetAttribute(in.get(), which, &value, sizeof(value));
}

// A row-major matrix, as the library sees it: column-major, and thus transposed.
result<layout> layout_of(dtype type, int64_t rows, int64_t columns, int64_t batches,
                         int64_t stride) {
  layout made;
  TROUPE_TRY(cublasLtMatrixLayoutCreate(made.out(), element_type(type),
                                        static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                        columns));
  if (batches > 1) {
    TROUPE_TRY(set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batches)));
    TROUPE_TRY(set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride));
  }
  return made;
}

// The library multiplies columns: c' = op(b)' * op(a)', so b comes first.
struct description {
  operation what;
  layout a, b, c;
};

result<description> describe(const question& asked) {
  const auto& of = asked.of;
  description made;
  TROUPE_TRY(cublasLtMatmulDescCreate(made.what.out(), compute_type_of(asked),
                                      of.type == dtype::f64 ? CUDA_R_64F : CUDA_R_32F));
  auto turn = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  TROUPE_TRY(set(made.what, CUBLASLT_MATMUL_DESC_TRANSA, turn(of.transpose_b)));
  TROUPE_TRY(set(made.what, CUBLASLT_MATMUL_DESC_TRANSB, turn(of.transpose_a)));
  if (asked.last != CUBLASLT_EPILOGUE_DEFAULT)
    TROUPE_TRY(set(made.what, CUBLASLT_MATMUL_DESC_EPILOGUE, asked.last));
  TROUPE_ASSIGN(made.a, layout_of(of.type, of.transpose_a ? of.k : of.m,
                                  of.transpose_a ? of.m : of.k, of.batches, of.stride_a));
  TROUPE_ASSIGN(made.b, layout_of(of.type, of.transpose_b ? of.n : of.k,
                                  of.transpose_b ? of.k : of.n, of.batches, of.stride_b));
  TROUPE_ASSIGN(made.c, layout_of(of.type, of.m, of.n, of.batches, of.stride_c));
  return made;
}

// What the library says where it has no algorithm depends on its version.
result<choices> choose(cublasLtHandle_t handle, const question& asked, const description& is) {
  preference wanted;
  TROUPE_TRY(cublasLtMatmulPreferenceCreate(wanted.out()));
  TROUPE_TRY(set(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{max_workspace}));
  TROUPE_TRY(
      set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, asked.alignment[1])); // b is first
  TROUPE_TRY(set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, asked.alignment[0]));
  TROUPE_TRY(set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, asked.alignment[2]));
  TROUPE_TRY(set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, asked.alignment[2]));
  cublasLtMatmulHeuristicResult_t found[max_advice] = {};
  int count = 0;
  auto answer =
      cublasLtMatmulAlgoGetHeuristic(handle, is.what.get(), is.b.get(), is.a.get(), is.c.get(),
                                     is.c.get(), wanted.get(), max_advice, found, &count);
  auto refused = answer.kind() == error_kind::unimplemented ||
                 (answer.kind() == error_kind::internal && asked.last != CUBLASLT_EPILOGUE_DEFAULT);
  if (!answer && !refused)
    return answer;
  auto made = std::make_shared<std::vector<choice>>();
  for (int i = 0; answer && i < count; ++i)
    if (found[i].state == CUBLAS_STATUS_SUCCESS)
      made->push_back({found[i].algo, found[i].workspaceSize});
  return choices{std::move(made)};
}

void remember(multiplier& by, const question& asked, choices what) {
  std::lock_guard guard{by.mutex};
  if (by.known.size() >= max_choices)
    by.known.clear();
  by.known.insert_or_assign(asked, std::move(what));
}

// The library's advice takes longer than many a product: it is asked once, also where it has none.
result<choices> remembered(multiplier& by, const question& asked, const description& is) {
  {
    std::lock_guard guard{by.mutex};
    if (auto known = by.known.find(asked); known != by.known.end())
      return known->second;
  }
  TROUPE_ASSIGN(auto found, choose(by.handle, asked, is));
  remember(by, asked, found);
  return found;
}

status no_algorithm(const product& of) {
  return failure(error_kind::unimplemented, "cuBLASLt has no algorithm for a product of ", of.type,
                 " matrices, ", of.m, " x ", of.k, " and ", of.k, " x ", of.n);
}

// Launches the product, with a bias if there is one; false where the library has no algorithm.
result<bool> multiply(gpu_device& on, allocator& memory, const product& what, const void* a,
                      const void* b, void* c, const void* bias) {
  TROUPE_ASSIGN(auto* by, on.kept<multiplier>(make_multiplier));
  question asked{what,
                 on.rounds_operands(),
                 {alignment_of(a), alignment_of(b), alignment_of(c), bias ? alignment_of(bias) : 0},
                 bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT};
  TROUPE_ASSIGN(auto is, describe(asked));
  // The library's matrices are transposed: our columns are the rows that it adds a bias to. Its
  // advice looks at how the bias is aligned.
  if (bias)
    TROUPE_TRY(set(is.what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
  TROUPE_ASSIGN(auto known, remembered(*by, asked, is));
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  auto wide = what.type == dtype::f64;
  for (auto next = known->begin(); next != known->end(); ++next) {
    tensor workspace;
    if (next->workspace > 0) {
      TROUPE_ASSIGN(workspace,
                    tensor::make(dtype::u8, shape{static_cast<int64_t>(next->workspace)}, memory));
    }
    auto outcome = cublasLtMatmul(
        by->handle, is.what.get(), wide ? static_cast<const void*>(&one_double) : &one, b,
        is.b.get(), a, is.a.get(), wide ? static_cast<const void*>(&zero_double) : &zero, c,
        is.c.get(), c, is.c.get(), &next->algorithm,
        next->workspace > 0 ? workspace.raw() : nullptr, next->workspace,
        reinterpret_cast<cudaStream_t>(on.compute()));
    if (outcome)
      return true;
    if (outcome.kind() != error_kind::unimplemented)
      return outcome;
    remember(*by, asked, std::make_shared<std::vector<choice>>(std::next(next), known->end()));
  }
  return false;
}

// Where the library does not do it.
status add_to_columns(gpu_device& on, const product& what, void* c, const epilogue& last) {
  return add_bias(
      on, {.values = c, .type = what.type, .outer = what.batches * what.m, .channels = what.n},
      last);
}

} // namespace

status gemm(gpu_device& on, allocator& memory, const product& what, const void* a, const void* b,
            void* c, const epilogue& last) {
  TROUPE_TRY(on.driver().make_current());
  if (last.bias && what.k == 0) {
    TROUPE_TRY(on.memory().space()->fill(c, "\0\0\0\0", size_of(what.type),
                                         what.batches * what.m * what.n));
    return add_to_columns(on, what, c, last);
  }
  // The library's Relu would make 0 of NaN.
  if (last.bias && !last.rectify) {
    TROUPE_ASSIGN(auto joined, multiply(on, memory, what, a, b, c, last.bias));
    if (joined)
      return {};
  }
  TROUPE_ASSIGN(auto multiplied, multiply(on, memory, what, a, b, c, nullptr));
  if (!multiplied)
    return no_algorithm(what);
  return last.bias ? add_to_columns(on, what, c, last) : status{};
}

} // namespace troupe::gpu
