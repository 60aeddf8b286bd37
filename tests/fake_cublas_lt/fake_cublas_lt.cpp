#include "tests/fake_cublas_lt/fake_cublas_lt.hpp"

#include "troupe/runtime/types/dtype.hpp"

#include <algorithm>
#include <cstring>
#include <cublasLt.h>

using namespace troupe;
using troupe::test::fake_cublas_lt;
using troupe::test::fake_epilogues;

namespace {

constexpr size_t workspace = 512;

// Column-major.
struct fake_layout {
  cudaDataType type;
  int64_t rows, columns, stride;
  int32_t batches = 1;
  int64_t batch_stride = 0;
};

struct fake_operation {
  cudaDataType scale;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

template <class Fake, class Given>
Fake& form_of(Given handle) {
  return *reinterpret_cast<Fake*>(const_cast<void*>(static_cast<const void*>(handle)));
}

template <class Fake, class Given>
cublasStatus_t make(Given* to, Fake description) {
  *to = reinterpret_cast<Given>(new Fake{description});
  return CUBLAS_STATUS_SUCCESS;
}

double read(cudaDataType type, const void* from, int64_t place) {
  switch (type) {
    case CUDA_R_16F:
      return static_cast<double>(static_cast<float>(static_cast<const float16*>(from)[place]));
    case CUDA_R_16BF:
      return static_cast<double>(static_cast<float>(static_cast<const bfloat16*>(from)[place]));
    case CUDA_R_64F: return static_cast<const double*>(from)[place];
    default: return static_cast<double>(static_cast<const float*>(from)[place]);
  }
}

void write(cudaDataType type, void* to, int64_t place, double value) {
  auto narrow = static_cast<float>(value);
  switch (type) {
    case CUDA_R_16F: static_cast<float16*>(to)[place] = float16{narrow}; break;
    case CUDA_R_16BF: static_cast<bfloat16*>(to)[place] = bfloat16{narrow}; break;
    case CUDA_R_64F: static_cast<double*>(to)[place] = value; break;
    default: static_cast<float*>(to)[place] = narrow;
  }
}

struct product {
  fake_operation operation;
  fake_layout a, b, d;
  const void *from_a, *from_b;
  void* to;

  static int64_t outer(const fake_layout& layout, cublasOperation_t turned) {
    return turned == CUBLAS_OP_N ? layout.rows : layout.columns;
  }
  static int64_t inner(const fake_layout& layout, cublasOperation_t turned) {
    return turned == CUBLAS_OP_N ? layout.columns : layout.rows;
  }
  static double element(const fake_layout& layout, cublasOperation_t turned, const void* from,
                        int64_t batch, int64_t row, int64_t column) {
    if (turned != CUBLAS_OP_N)
      std::swap(row, column);
    return read(layout.type, from, batch * layout.batch_stride + column * layout.stride + row);
  }

  bool fits() const {
    return outer(a, operation.a) == d.rows && inner(b, operation.b) == d.columns &&
           inner(a, operation.a) == outer(b, operation.b) && a.batches == d.batches &&
           b.batches == d.batches;
  }

  void compute() const {
    for (int64_t batch = 0; batch < d.batches; ++batch)
      for (int64_t column = 0; column < d.columns; ++column)
        for (int64_t row = 0; row < d.rows; ++row) {
          double sum = operation.bias ? read(d.type, operation.bias, row) : 0;
          for (int64_t k = 0; k < inner(a, operation.a); ++k)
            sum += element(a, operation.a, from_a, batch, row, k) *
                   element(b, operation.b, from_b, batch, k, column);
          if (operation.epilogue & CUBLASLT_EPILOGUE_RELU)
            sum = sum > 0 ? sum : 0; // also for NaN
          write(d.type, to, batch * d.batch_stride + column * d.stride + row, sum);
        }
  }
};

bool is_factor(const fake_operation& operation, const void* factor, double value) {
  return operation.scale == CUDA_R_64F
             ? *static_cast<const double*>(factor) == value
             : static_cast<double>(*static_cast<const float*>(factor)) == value;
}

} // namespace

fake_cublas_lt& fake_cublas_lt::instance() {
  static fake_cublas_lt singleton;
  return singleton;
}

const char* cublasLtGetStatusString(cublasStatus_t) { return "the fake refuses it"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* to) {
  *to = reinterpret_cast<cublasLtHandle_t>(new char{});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
  return make(to,
              fake_layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(const cublasLtMatrixLayout_t layout) {
  delete &form_of<fake_layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  auto& form = form_of<fake_layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof(form.batches))
    std::memcpy(&form.batches, value, bytes);
  else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
           bytes == sizeof(form.batch_stride))
    std::memcpy(&form.batch_stride, value, bytes);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to, cublasComputeType_t,
                                        cudaDataType_t scale) {
  return make(to, fake_operation{scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(const cublasLtMatmulDesc_t descriptor) {
  delete &form_of<fake_operation>(descriptor);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& form = form_of<fake_operation>(descriptor);
  auto set = [&](auto& to) {
    if (bytes != sizeof(to))
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(form.a);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(form.b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(form.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(form.bias);
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) {
  *to = reinterpret_cast<cublasLtMatmulPreference_t>(new char{});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(const cublasLtMatmulPreference_t preference) {
  delete &form_of<char>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

// The advice depends on whether there is a bias.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int max_count,
                                              cublasLtMatmulHeuristicResult_t* to, int* count) {
  auto& fake = fake_cublas_lt::instance();
  ++fake.advice_requests;
  const auto& operation = form_of<fake_operation>(descriptor);
  auto ends = operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  *count = 0;
  if (ends && (fake.epilogues == fake_epilogues::refused || !operation.bias))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (ends && fake.epilogues == fake_epilogues::without_algorithm)
    return CUBLAS_STATUS_SUCCESS;
  if (fake.algorithms == 0) // either answer, as the header documents for these cases
    return ends ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  *count = std::min(max_count, fake.algorithms);
  for (int i = 0; i < *count; ++i) {
    to[i].state = CUBLAS_STATUS_SUCCESS;
    to[i].workspaceSize = workspace;
    to[i].algo.data[0] = static_cast<uint64_t>(i);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                              cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t* algorithm, void* room, size_t bytes,
                              cudaStream_t in) {
  auto& fake = fake_cublas_lt::instance();
  product called_product{form_of<fake_operation>(operation),
                         form_of<fake_layout>(of_a),
                         form_of<fake_layout>(of_b),
                         form_of<fake_layout>(of_d),
                         a,
                         b,
                         d};
  if (!called_product.fits() || !is_factor(called_product.operation, alpha, 1) ||
      !is_factor(called_product.operation, beta, 0) || c != d || !room || bytes < workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[0] < static_cast<uint64_t>(fake.refuses))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  ++fake.launches;
  fake.run(in, [called_product] { called_product.compute(); });
  return CUBLAS_STATUS_SUCCESS;
}
