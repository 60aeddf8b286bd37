// Ops compute what an independent implementation computes (tests/ops/goldens/README.md).
#include "tests/ops/every_op.hpp"
#include "tests/ops/few_goldens.hpp"
#include "tests/ops/golden_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/real_gpus.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/wanted_ops.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include <map>

namespace troupe::test::golden_test {

namespace {

void run_all_goldens(client_options options) {
  auto local = client::local(options);
  REQUIRE(local);
  auto cases = golden_cases();
  CHECK(!cases.empty());
  for (const auto& one : cases)
    if (auto why = complaint_about(**local, *options.ops, one); !why.empty())
      FAIL_CHECK(one.name << ": " << why);
}

client_options on_processors(const pass_options& passes) {
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 2, .gpus = 0}); };
  options.passes = passes;
  return options;
}

} // namespace

TEST_CASE("every op computes what others compute", "[golden]") {
  run_all_goldens(on_processors(pass_options::none()));
}

TEST_CASE("every op computes what others compute, whatever passes make of it", "[golden]") {
  run_all_goldens(on_processors({}));
}

TEST_CASE("every op computes what others compute, on a simulated GPU", "[golden][gpu_goldens]") {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [] { return make_simulated_devices(1, {.longest_delay = {}}); };
  options.passes = pass_options::none();
  run_all_goldens(options);
}

TEST_CASE("every op computes what others compute, on a GPU", "[gpu][golden]") {
  if (!has_gpu())
    return;
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] { return make_gpu_devices(); };
  for (const auto& passes : {pass_options::none(), pass_options{}}) {
    options.passes = passes;
    run_all_goldens(options);
  }
}

TEST_CASE("every op computes what others compute, where cuDNN computes all layers it can",
          "[gpu]") {
  if (!has_gpu())
    return;
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] {
    auto made = make_gpu_devices();
    for (auto& one : made)
      if (one->kind() == device_kind::gpu)
        gpu::choose_layers(gpu::gpu_of(*one), gpu::layers_by::library);
    return made;
  };
  options.passes = pass_options::none();
  run_all_goldens(options);
}

TEST_CASE("every op has at least six golden cases") {
  if (!all_ops_wanted())
    return;
  std::map<std::string, int, std::less<>> cases;
  for (const auto& one : golden_cases())
    ++cases[one.op()];
  check_every_op(
      [&](const op_def& op) {
        auto found = cases.find(op.name);
        auto count = found == cases.end() ? 0 : found->second;
        return count >= 6 ? device_errors{}
                          : device_errors{concat("has only ", count, " golden cases")};
      },
      few_goldens());
}

} // namespace troupe::test::golden_test
