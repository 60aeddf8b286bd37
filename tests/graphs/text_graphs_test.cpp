// Runs every case in this folder, and every op's example, in one process and spread over clusters.
#include "troupe/api/library.hpp"
#include "troupe/tests/support/catch.hpp"
#include "troupe/tests/support/processes.hpp"
#include "troupe/tests/support/text_case.hpp"
#include "troupe/tests/support/watchdog.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace troupe;
using namespace troupe::test;

namespace {

struct named_text {
  std::string name, text;
};

std::vector<named_text> all_cases() {
  std::vector<named_text> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{TROUPE_GRAPHS})
    if (entry.path().extension() == ".txt") {
      std::ostringstream text;
      text << std::ifstream{entry.path()}.rdbuf();
      found.push_back({std::filesystem::relative(entry.path(), TROUPE_GRAPHS), text.str()});
    }
  std::ranges::sort(found, {}, &named_text::name);
  return found;
}

std::vector<named_text> all_examples() {
  std::vector<named_text> found;
  for (const auto* op : library().ops())
    if (!op->example.empty())
      found.push_back({std::string{op->name} + ".example", std::string{op->example}});
  return found;
}

// Runs all of them, spread over the devices, and returns what went wrong.
std::string complaints(client& in, const std::vector<named_text>& cases,
                       const std::vector<std::string>& devices) {
  std::string all;
  size_t first = 0;
  for (const auto& one : cases) {
    text_case written{one.text, one.name};
    graph moved{library()};
    auto text = spread(written.text, *written.nodes, moved, devices, first++);
    for (const auto& run : text.runs) {
      auto deadline = step_clock::now() + std::chrono::seconds{20};
      auto outcome = [&]() -> result<std::vector<tensor>> {
        TROUPE_ASSIGN(auto step, in.prepare(moved, signature_of(run), deadline));
        return in.run(*step, feeds_of(run), deadline);
      }();
      if (auto why = complaint_about(run, outcome); !why.empty())
        all += concat(one.name, ": ", why, '\n');
    }
    if (auto cleared = in.reset("", step_clock::now() + std::chrono::seconds{20}); !cleared)
      all += concat(one.name, ": reset: ", cleared, '\n');
  }
  return all;
}

const program_options as_usual, node_by_node{.region_per_node = true};

std::string complaints_of_local(const std::vector<named_text>& cases,
                                const program_options& programs, const pass_options& passes = {}) {
  client_options options;
  options.passes = passes;
  options.ops = &library();
  options.make_devices = [] { return make_devices(1); };
  options.inter_op_threads = 2;
  options.programs = programs;
  auto local = client::local(options);
  REQUIRE(local);
  return complaints(**local, cases, {""});
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
    return complaints(*connect_to(part, std::chrono::seconds{10}, {}, programs), cases, devices);
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
                    &pass_options::dead, &pass_options::fuse, &pass_options::schedule}) {
    auto passes = pass_options::none();
    passes.*pass = true;
    CHECK(complaints_of_local(cases, as_usual, passes) == "");
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
