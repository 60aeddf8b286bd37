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
constexpr size_t max_choices = 4096; // beyond, all are forgotten

// The inputs of the choice of an algorithm: the product, and the alignment of its operands.
struct question {
  product problem;
  bool rounds = false;
  uint32_t alignment[4] = {}; // of a, b, c and the bias
  cublasLtEpilogue_t last = CUBLASLT_EPILOGUE_DEFAULT;

  auto key() const {
    return std::tuple{
        problem.type, problem.transpose_a, problem.transpose_b, problem.m,        problem.n,
        problem.k,    problem.batches,     problem.stride_a,    problem.stride_b, problem.stride_c,
        rounds,       alignment[0],        alignment[1],        alignment[2],     alignment[3],
        last};
  }
  bool operator<(const question& other) const { return key() < other.key(); }
};

struct choice {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace;
};
using choices = std::shared_ptr<const std::vector<choice>>; // best first; empty where there is none

// The handle and the choices of a device.
struct multiplier {
  ~multiplier() {
    if (handle && owner->make_current())
      static_cast<void>(cublasLtDestroy(handle));
  }

  driver* owner = nullptr;
  cublasLtHandle_t handle = nullptr; // thread-safe
  std::mutex mutex;                  // of the known choices
  std::map<question, choices> known;
};

result<std::shared_ptr<multiplier>> make_multiplier(gpu_device& target) {
  auto created = std::make_shared<multiplier>();
  created->owner = &target.driver();
  TROUPE_TRY(cublasLtCreate(&created->handle));
  return created;
}

uint32_t alignment_of(const void* memory) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  uint32_t bytes = 256;
  while (address % bytes != 0)
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
  if (asked.problem.type == dtype::f64)
    return CUBLAS_COMPUTE_64F;
  if (asked.problem.type == dtype::f32 && asked.rounds)
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  return CUBLAS_COMPUTE_32F;
}

template <class Value>
status set(const operation& descriptor, cublasLtMatmulDescAttributes_t attribute,
           const Value& value) {
  return cublasLtMatmulDescSetAttribute(descriptor.get(), attribute, &value, sizeof(value));
}
template <class Value>
status set(const layout& descriptor, cublasLtMatrixLayoutAttribute_t attribute,
           const Value& value) {
  return cublasLtMatrixLayoutSetAttribute(descriptor.get(), attribute, &value, sizeof(value));
}
template <class Value>
status set(const preference& descriptor, cublasLtMatmulPreferenceAttributes_t attribute,
           const Value& value) {
  return cublasLtMatmulPreferenceSetAttribute(descriptor.get(), attribute, &value, sizeof(value));
}

// Describes a row-major matrix, which the library sees as column-major, and so as transposed.
result<layout> layout_of(dtype type, int64_t rows, int64_t columns, int64_t batches,
                         int64_t stride) {
  layout created;
  TROUPE_TRY(cublasLtMatrixLayoutCreate(created.out(), element_type(type),
                                        static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                        columns));
  if (batches > 1) {
    TROUPE_TRY(set(created, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batches)));
    TROUPE_TRY(set(created, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride));
  }
  return created;
}

// The library computes the transpose, c' = op(b)' * op(a)', so b is the first operand.
struct description {
  operation matmul;
  layout a, b, c;
};

result<description> describe(const question& asked) {
  const auto& problem = asked.problem;
  description described;
  TROUPE_TRY(cublasLtMatmulDescCreate(described.matmul.out(), compute_type_of(asked),
                                      problem.type == dtype::f64 ? CUDA_R_64F : CUDA_R_32F));
  auto operation_of = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  TROUPE_TRY(set(described.matmul, CUBLASLT_MATMUL_DESC_TRANSA, operation_of(problem.transpose_b)));
  TROUPE_TRY(set(described.matmul, CUBLASLT_MATMUL_DESC_TRANSB, operation_of(problem.transpose_a)));
  if (asked.last != CUBLASLT_EPILOGUE_DEFAULT)
    TROUPE_TRY(set(described.matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, asked.last));
  TROUPE_ASSIGN(described.a, layout_of(problem.type, problem.transpose_a ? problem.k : problem.m,
                                       problem.transpose_a ? problem.m : problem.k, problem.batches,
                                       problem.stride_a));
  TROUPE_ASSIGN(described.b, layout_of(problem.type, problem.transpose_b ? problem.n : problem.k,
                                       problem.transpose_b ? problem.k : problem.n, problem.batches,
                                       problem.stride_b));
  TROUPE_ASSIGN(described.c,
                layout_of(problem.type, problem.m, problem.n, problem.batches, problem.stride_c));
  return described;
}

// Asks for algorithms. The library's error if it has none depends on its version.
result<choices> choose(cublasLtHandle_t handle, const question& asked,
                       const description& described) {
  preference constraints;
  TROUPE_TRY(cublasLtMatmulPreferenceCreate(constraints.out()));
  TROUPE_TRY(set(constraints, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{max_workspace}));
  TROUPE_TRY(set(constraints, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                 asked.alignment[1])); // b is first
  TROUPE_TRY(set(constraints, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, asked.alignment[0]));
  TROUPE_TRY(set(constraints, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, asked.alignment[2]));
  TROUPE_TRY(set(constraints, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, asked.alignment[2]));
  cublasLtMatmulHeuristicResult_t advice[max_advice] = {};
  int count = 0;
  auto outcome = cublasLtMatmulAlgoGetHeuristic(
      handle, described.matmul.get(), described.b.get(), described.a.get(), described.c.get(),
      described.c.get(), constraints.get(), max_advice, advice, &count);
  auto refused =
      outcome.kind() == error_kind::unimplemented ||
      (outcome.kind() == error_kind::internal && asked.last != CUBLASLT_EPILOGUE_DEFAULT);
  if (!outcome && !refused)
    return outcome;
  auto chosen = std::make_shared<std::vector<choice>>();
  for (int i = 0; outcome && i < count; ++i)
    if (advice[i].state == CUBLAS_STATUS_SUCCESS)
      chosen->push_back({advice[i].algo, advice[i].workspaceSize});
  return choices{std::move(chosen)};
}

void remember(multiplier& cache, const question& asked, choices algorithms) {
  std::lock_guard guard{cache.mutex};
  if (cache.known.size() >= max_choices)
    cache.known.clear();
  cache.known.insert_or_assign(asked, std::move(algorithms));
}

// Looks up or asks for algorithms. Asking takes longer than many products, so it is done once.
result<choices> remembered(multiplier& cache, const question& asked, const description& described) {
  {
    std::lock_guard guard{cache.mutex};
    if (auto cached = cache.known.find(asked); cached != cache.known.end())
      return cached->second;
  }
  TROUPE_ASSIGN(auto chosen, choose(cache.handle, asked, described));
  remember(cache, asked, chosen);
  return chosen;
}

status no_algorithm(const product& problem) {
  return failure(error_kind::unimplemented, "cuBLASLt has no algorithm for a product of ",
                 problem.type, " matrices, ", problem.m, " x ", problem.k, " and ", problem.k,
                 " x ", problem.n);
}

// Launches the product, with a bias if not null; returns false if the library has no algorithm.
result<bool> multiply(gpu_device& target, allocator& memory, const product& problem, const void* a,
                      const void* b, void* c, const void* bias) {
  TROUPE_ASSIGN(auto* cache, target.get_or_make<multiplier>(make_multiplier));
  question asked{problem,
                 target.uses_tf32(),
                 {alignment_of(a), alignment_of(b), alignment_of(c), bias ? alignment_of(bias) : 0},
                 bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT};
  TROUPE_ASSIGN(auto described, describe(asked));
  // The library's matrices are transposed: the columns of c are the rows to which it adds a bias.
  // Its heuristics depend on the alignment of the bias.
  if (bias)
    TROUPE_TRY(set(described.matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
  TROUPE_ASSIGN(auto candidates, remembered(*cache, asked, described));
  const float one_float = 1, zero_float = 0;
  const double one_double = 1, zero_double = 0;
  auto is_double = problem.type == dtype::f64;
  for (auto next = candidates->begin(); next != candidates->end(); ++next) {
    tensor workspace;
    if (next->workspace > 0) {
      TROUPE_ASSIGN(workspace,
                    tensor::make(dtype::u8, shape{static_cast<int64_t>(next->workspace)}, memory));
    }
    auto outcome = cublasLtMatmul(cache->handle, described.matmul.get(),
                                  is_double ? static_cast<const void*>(&one_double) : &one_float, b,
                                  described.b.get(), a, described.a.get(),
                                  is_double ? static_cast<const void*>(&zero_double) : &zero_float,
                                  c, described.c.get(), c, described.c.get(), &next->algorithm,
                                  next->workspace > 0 ? workspace.raw() : nullptr, next->workspace,
                                  reinterpret_cast<cudaStream_t>(target.compute()));
    if (outcome)
      return true;
    if (outcome.kind() != error_kind::unimplemented)
      return outcome;
    remember(*cache, asked,
             std::make_shared<std::vector<choice>>(std::next(next), candidates->end()));
  }
  return false;
}

// Adds the bias by a separate launch.
status add_to_columns(gpu_device& target, const product& problem, void* c, const epilogue& last) {
  return add_bias(target,
                  {.values = c,
                   .type = problem.type,
                   .outer = problem.batches * problem.m,
                   .channels = problem.n},
                  last);
}

} // namespace

status gemm(gpu_device& target, allocator& memory, const product& problem, const void* a,
            const void* b, void* c, const epilogue& last) {
  TROUPE_TRY(target.driver().make_current());
  if (last.bias && problem.k == 0) {
    TROUPE_TRY(target.memory().space()->fill(c, "\0\0\0\0", size_of(problem.type),
                                             problem.batches * problem.m * problem.n));
    return add_to_columns(target, problem, c, last);
  }
  // The library's Relu would replace NaN by 0.
  if (last.bias && !last.rectify) {
    TROUPE_ASSIGN(auto joined, multiply(target, memory, problem, a, b, c, last.bias));
    if (joined)
      return {};
  }
  TROUPE_ASSIGN(auto multiplied, multiply(target, memory, problem, a, b, c, nullptr));
  if (!multiplied)
    return no_algorithm(problem);
  return last.bias ? add_to_columns(target, problem, c, last) : status{};
}

} // namespace troupe::gpu
