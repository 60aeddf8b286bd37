// Runs every case of this folder, and every op's example, in one process and on clusters of several
// sizes.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"

namespace troupe::test::text_graphs_test {

namespace {

const program_options as_usual, node_by_node{.region_per_node = true};

std::string complaints_of_local(const std::vector<named_text>& cases,
                                const program_options& programs, const pass_options& passes = {}) {
  client_options options;
  options.passes = passes;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.inter_op_threads = 2;
  options.programs = programs;
  auto local = client::local(options);
  REQUIRE(local);
  return differences_of(**local, library(), cases, {""});
}

// The same processes serve clusters of every size.
struct worker_processes {
  cluster_spec cluster = make_cluster(4);
  std::vector<task_process> tasks;
  worker_processes() {
    for (int i = 0; i < 4; ++i)
      tasks.emplace_back(cluster, task_name{"worker", i});
  }
  std::string complaints_of(const std::vector<named_text>& cases, size_t workers,
                            const program_options& programs = {}) const {
    cluster_spec part = cluster;
    part.jobs["worker"].resize(workers);
    std::vector<std::string> devices;
    for (size_t i = 0; i < workers; ++i)
      devices.push_back(concat("/job:worker/task:", i));
    return differences_of(*connect_to(part, std::chrono::seconds{10}, {}, programs), library(),
                          cases, devices);
  }
};

} // namespace

TEST_CASE("every text graph and every op's example gives what it promises in one process") {
  watchdog watch;
  auto cases = all_cases(), examples = all_examples();
  CHECK(cases.size() > 10);
  CHECK(examples.size() > 40);
  for (const auto& programs : {as_usual, node_by_node}) {
    INFO("a region per node: " << programs.region_per_node);
    CHECK(complaints_of_local(cases, programs) == "");
    CHECK(complaints_of_local(examples, programs) == "");
  }
}

TEST_CASE(
    "every text graph and every op's example gives the same as it was written, without passes") {
  watchdog watch;
  CHECK(complaints_of_local(all_cases(), as_usual, pass_options::none()) == "");
  CHECK(complaints_of_local(all_examples(), as_usual, pass_options::none()) == "");
}

TEST_CASE("every text graph gives the same with any single pass") {
  watchdog watch;
  auto cases = all_cases();
  for (auto pass : {&pass_options::fold, &pass_options::simplify, &pass_options::merge,
                    &pass_options::remove_dead, &pass_options::fuse, &pass_options::schedule,
                    &pass_options::hoist_collectives, &pass_options::hoist_invariants}) {
    auto passes = pass_options::none();
    passes.*pass = true;
    CHECK(complaints_of_local(cases, as_usual, passes) == "");
  }
}

TEST_CASE("every text graph and every op's example gives the same if products use 16 bits") {
  watchdog watch;
  for (auto type : {dtype::bf16, dtype::f16}) {
    INFO(to_string(type));
    pass_options passes{.mixed_precision = type};
    CHECK(complaints_of_local(all_cases(), as_usual, passes) == "");
    CHECK(complaints_of_local(all_examples_for_16_bits(), as_usual, passes) == "");
  }
}

TEST_CASE("every text graph and every op's example gives the same on one, two and four workers") {
  watchdog watch{std::chrono::seconds{100}};
  auto cases = all_cases(), examples = all_examples();
  worker_processes workers;
  for (size_t count : {1, 2, 4}) {
    INFO("on " << count << " workers");
    CHECK(workers.complaints_of(cases, count) == "");
    CHECK(workers.complaints_of(examples, count) == "");
  }
  CHECK(workers.complaints_of(cases, 2, node_by_node) == "");
}

} // namespace troupe::test::text_graphs_test
