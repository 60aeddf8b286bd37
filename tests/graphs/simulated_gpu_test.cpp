// Runs every case in this folder, and every op's example, on simulated GPUs.
#include "troupe/tests/graphs/all_cases.hpp"
#include "troupe/tests/support/catch.hpp"
#include "troupe/tests/support/simulated_gpus.hpp"
#include "troupe/tests/support/text_case.hpp"
#include "troupe/tests/support/watchdog.hpp"

#include <random>

using namespace troupe;
using namespace troupe::test;

namespace {

std::unique_ptr<client> session_with(int gpus, const program_options& programs,
                                     const pass_options& passes, unsigned seed) {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [=] { return make_simulated_devices(gpus, {.seed = seed}); };
  options.inter_op_threads = 2;
  options.programs = programs;
  options.passes = passes;
  auto made = client::local(options);
  REQUIRE(made);
  return *std::move(made);
}

std::string complaints(int gpus, const std::vector<named_text>& cases,
                       const std::vector<std::string>& devices,
                       const program_options& programs = {}, const pass_options& passes = {}) {
  auto seed = std::random_device{}();
  UNSCOPED_INFO("seed " << seed);
  return complaints_about(*session_with(gpus, programs, passes, seed), simulated_library(), cases,
                          devices);
}

} // namespace

TEST_CASE("every text graph gives what it promises on a simulated GPU") {
  watchdog watch{std::chrono::seconds{100}};
  CHECK(complaints(1, all_cases(), {""}) == "");
  CHECK(complaints(1, all_cases(), {""}, {}, pass_options::none()) == "");
  CHECK(complaints(1, all_cases(), {""}, {.region_per_node = true}) == "");
}

TEST_CASE("every op's example gives what it promises on a simulated GPU") {
  watchdog watch{std::chrono::seconds{100}};
  CHECK(complaints(1, all_examples(), {""}) == "");
  CHECK(complaints(1, all_examples(), {""}, {}, pass_options::none()) == "");
}

TEST_CASE(
    "every text graph and every op's example gives the same where a GPU's products take 16 bits") {
  watchdog watch{std::chrono::seconds{100}};
  for (auto type : {dtype::bf16, dtype::f16}) {
    INFO(to_string(type));
    CHECK(complaints(1, all_cases(), {""}, {}, {.mixed_precision = type}) == "");
    CHECK(complaints(1, all_examples_for_16_bits(), {""}, {}, {.mixed_precision = type}) == "");
  }
}

TEST_CASE(
    "every text graph and every op's example gives the same where all that can be is swapped") {
  watchdog watch{std::chrono::seconds{100}};
  pass_options passes{.swap = {.mode = swap_mode::on, .at_least = 1}};
  CHECK(complaints(1, all_cases(), {""}, {}, passes) == "");
  CHECK(complaints(1, all_examples(), {""}, {}, passes) == "");
  CHECK(complaints(2, all_cases(), {"/gpu:0", "/gpu:1", "/cpu:0"}, {}, passes) == "");
}

TEST_CASE("every text graph gives what it promises spread over a processor and two GPUs") {
  watchdog watch{std::chrono::seconds{100}};
  const std::vector<std::string> devices = {"/gpu:0", "/gpu:1", "/cpu:0"};
  CHECK(complaints(2, all_cases(), devices) == "");
  CHECK(complaints(2, all_examples(), devices) == "");
}
