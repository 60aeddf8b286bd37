// The GPU kernels for fused ops are programs that their compiler accepts.
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/compiled_kernel.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"
#include "troupe/ops/internal/fused_code.hpp"

#include <algorithm>

namespace troupe::test::fused_code_test {

using ops::beside;

namespace {

fused_stage stage(const op_def& op, dtype type, size_t first, size_t second) {
  auto named = dtype_from(op.outputs[0].type);
  return {.op = &op,
          .operand_type = type,
          .type = named ? *named : type,
          .arity = op.inputs.size(),
          .operands = {first, second},
          .origin = std::string{op.name}};
}

// Chains all ops that have code for the type and return it.
fused_stages chain_of_all(dtype type, size_t inputs) {
  fused_stages stages{.inputs = inputs, .stages = {}};
  for (const auto* op : simulated_library().ops()) {
    auto* kernel = simulated_library().find_kernel(op->name, device_kind::gpu);
    auto* entry = kernel ? kernel->find(type) : nullptr;
    if (!entry || !entry->code)
      continue;
    auto last = stages.stages.empty() ? 0 : inputs + stages.stages.size() - 1;
    auto added = stage(*op, type, last, stages.stages.size() % inputs);
    if (added.type == type)
      stages.stages.push_back(added);
  }
  return stages;
}

bool cannot_compile(const status& code) { return code.kind() == error_kind::failed_precondition; }

} // namespace

TEST_CASE("every op's GPU code compiles, for every type and position of the inputs") {
  constexpr size_t inputs = 4;
  size_t ops_seen = 0;
  for (auto type : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::boolean, dtype::i8,
                    dtype::i32, dtype::i64, dtype::u8}) {
    auto chain = chain_of_all(type, inputs);
    if (chain.stages.empty())
      continue;
    ops_seen = std::max(ops_seen, chain.stages.size());
    std::vector<dtype> types(inputs, type);
    ops::fused_variant variant{
        {beside::elementwise, beside::single, beside::row, beside::strided}, 4, type != dtype::f32};
    auto code = ops::fused_code(chain, types, simulated_library(), variant);
    REQUIRE(code);
    auto binary = gpu::compile_to_binary(*code, 9, 0);
    if (!binary && cannot_compile(binary.status())) {
      WARN("skipped: " << binary.status().message());
      return;
    }
    INFO(*code);
    if (!binary)
      FAIL_CHECK(binary.status().message());
    else
      CHECK(!binary->empty());
  }
  CHECK(ops_seen >= 2);
}

TEST_CASE("a build without CUDA compiles no kernel for a GPU") {
  if (!list_cuda_devices(make_cpu_device({.intra_op_threads = 1}))
           .reasons.starts_with("This build"))
    return;
  auto source = R"(extern "C" __global__ void nothing() {})";
  CHECK(gpu::compile(source, "nothing", {}).status().kind() == error_kind::failed_precondition);
  CHECK(gpu::compile_to_binary(source, 9, 0).status().kind() == error_kind::failed_precondition);
}

TEST_CASE("the error for an op without GPU code names the op") {
  auto* op = *simulated_library().find_op("MatMul");
  fused_stages stages{.inputs = 1, .stages = {stage(*op, dtype::f32, 0, 0)}};
  std::vector<dtype> types{dtype::f32};
  auto code = ops::fused_code(stages, types, simulated_library(), {{beside::elementwise}});
  REQUIRE(!code);
  CHECK(code.status().message().find("MatMul") != std::string::npos);
}

} // namespace troupe::test::fused_code_test
