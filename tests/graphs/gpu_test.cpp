// Runs every case in this folder, and every op's example, on the GPU of this machine.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/real_gpus.hpp"
#include "tests/support/watchdog.hpp"

namespace troupe::test::gpu_test {

namespace {

std::string failures_of(int gpus, const std::vector<named_text>& cases,
                        const std::vector<std::string>& on, const program_options& programs = {},
                        const pass_options& passes = {}) {
  client_options options;
  options.ops = &library();
  options.make_devices = [=] { return make_gpu_devices(gpus); };
  options.inter_op_threads = 2;
  options.programs = programs;
  options.passes = passes;
  auto session = client::local(options);
  REQUIRE(session);
  return differences_of(**session, library(), cases, on);
}

} // namespace

TEST_CASE("every text graph and example gives what it promises on a GPU", "[gpu]") {
  watchdog watch{std::chrono::seconds{240}};
  if (!has_gpu())
    return;
  for (const auto& cases : {all_cases(), all_examples()}) {
    CHECK(failures_of(1, cases, {""}) == "");
    CHECK(failures_of(1, cases, {""}, {}, pass_options::none()) == "");
    CHECK(failures_of(1, cases, {""}, {.region_per_node = true}) == "");
  }
}

TEST_CASE("every text graph and example gives what it promises on two devices of a GPU", "[gpu]") {
  watchdog watch{std::chrono::seconds{240}};
  if (!has_gpu())
    return;
  const std::vector<std::string> on = {"/gpu:0", "/gpu:1", "/cpu:0"};
  CHECK(failures_of(2, all_cases(), on) == "");
  CHECK(failures_of(2, all_examples(), on) == "");
}

} // namespace troupe::test::gpu_test
