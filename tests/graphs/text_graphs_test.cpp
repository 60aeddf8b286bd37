// Runs every case of this folder, and every op's example, in one process and on clusters of several
// sizes.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "tests/support/wrong_messages.hpp"
#include "troupe/api/internal/library.hpp"

namespace troupe::test::text_graphs_test {

namespace {

const program_options as_usual, node_by_node{.region_per_node = true};

std::unique_ptr<client> local_session(const program_options& programs,
                                      const pass_options& passes = {}) {
  client_options options;
  options.passes = passes;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.inter_op_threads = 2;
  options.programs = programs;
  auto local = client::local(options);
  REQUIRE(local);
  return *std::move(local);
}

std::string failures_of_local(const std::vector<named_text>& cases, const program_options& programs,
                              const pass_options& passes = {}) {
  return differences_of(*local_session(programs, passes), library(), cases, {""});
}

// The same processes serve clusters of every size.
struct worker_processes {
  cluster_spec cluster = make_cluster(4);
  std::vector<task_process> tasks;
  worker_processes() {
    for (int i = 0; i < 4; ++i)
      tasks.emplace_back(cluster, task_name{"worker", i});
  }
  std::unique_ptr<client> connect(size_t workers, const program_options& programs) const {
    cluster_spec part = cluster;
    part.jobs["worker"].resize(workers);
    return connect_to(part, std::chrono::seconds{10}, {}, programs);
  }
  std::string failures_of(const std::vector<named_text>& cases, size_t workers,
                          const program_options& programs = {}) const {
    std::vector<std::string> devices;
    for (size_t i = 0; i < workers; ++i)
      devices.push_back(concat("/job:worker/task:", i));
    return differences_of(*connect(workers, programs), library(), cases, devices);
  }
};

// Runs graphs in two sessions of the same tasks. The nodes of one of them are regions of their own.
class region_comparison {
public:
  region_comparison(std::unique_ptr<client> joined, std::unique_ptr<client> by_node,
                    std::vector<std::string> devices)
      : joined_{std::move(joined), {}}, by_node_{std::move(by_node), {}},
        devices_(std::move(devices)) {}

  /// Returns how the results differ, and how the numbers of delivered messages differ from those
  /// that the programs need.
  std::string differences_of(const std::vector<named_text>& cases) {
    differences_.clear();
    for (const auto& stored : cases) {
      text_case written{stored.text, stored.name};
      graph placed{library()};
      auto text = spread(written.text, *written.nodes, placed, devices_, first_++);
      for (const auto& text_run : text.runs)
        compare(concat(stored.name, ':', text_run.line, ": "), placed, text_run);
      for (auto* session : {&joined_, &by_node_})
        CHECK(session->connection->reset("", step_clock::now() + patience()).ok());
    }
    return differences_;
  }

  const message_counts& messages_of_joined() const { return joined_.messages; }
  const message_counts& messages_by_node() const { return by_node_.messages; }

private:
  struct measured_session {
    std::unique_ptr<client> connection;
    message_counts messages; // of all steps
  };
  struct measured_run {
    result<std::vector<tensor>> outcome = std::vector<tensor>{};
    message_counts messages;
  };

  measured_run run(measured_session& session, const std::string& prefix, const graph& placed,
                   const text_run& text) {
    step_statistics statistics;
    measured_run ended;
    auto deadline = step_clock::now() + patience();
    auto step = session.connection->prepare(placed, signature_of(text), deadline);
    ended.outcome = step ? session.connection->run(**step, feeds_of(text), deadline,
                                                   {.statistics = &statistics})
                         : step.status();
    if (!ended.outcome)
      return ended;
    if (auto report = wrong_messages(statistics); !report.empty())
      differences_ += concat(prefix, "other messages than the programs need:\n", report);
    for (const auto& task : statistics.tasks)
      ended.messages += task.messages;
    session.messages += ended.messages;
    return ended;
  }

  void compare(const std::string& prefix, const graph& placed, const text_run& text) {
    auto joined = run(joined_, prefix, placed, text);
    auto by_node = run(by_node_, prefix, placed, text);
    for (const auto* ended : {&joined, &by_node})
      if (auto difference = difference_of(text, ended->outcome); !difference.empty())
        differences_ += concat(prefix, difference, '\n');
    if (joined.outcome.status().kind() != by_node.outcome.status().kind())
      differences_ += concat(prefix, joined.outcome.status(),
                             ", and by node: ", by_node.outcome.status(), '\n');
    if (!joined.outcome || !by_node.outcome)
      return;
    for (size_t i = 0; i < joined.outcome->size(); ++i)
      if (!identical((*joined.outcome)[i], (*by_node.outcome)[i]))
        differences_ += concat(prefix, "result ", i, " has other bits\n");
    if (by_node.messages.total() < joined.messages.total())
      differences_ += concat(prefix, by_node.messages.total(), " messages by node, and ",
                             joined.messages.total(), " between regions\n");
  }

  measured_session joined_, by_node_;
  std::vector<std::string> devices_;
  size_t first_ = 0;
  std::string differences_;
};

const program_options same_bits{.deterministic = true},
    same_bits_by_node{.region_per_node = true, .deterministic = true};

} // namespace

TEST_CASE("every text graph and every op's example gives what it promises in one process") {
  watchdog watch;
  auto cases = all_cases(), examples = all_examples();
  CHECK(cases.size() > 10);
  CHECK(examples.size() > 40);
  for (const auto& programs : {as_usual, node_by_node}) {
    INFO("a region per node: " << programs.region_per_node);
    CHECK(failures_of_local(cases, programs) == "");
    CHECK(failures_of_local(examples, programs) == "");
  }
}

TEST_CASE("an actor for each node gives the bits of joined regions by more messages") {
  watchdog watch{std::chrono::seconds{60}};
  region_comparison local{local_session(same_bits), local_session(same_bits_by_node), {""}};
  CHECK(local.differences_of(all_cases()) == "");
  CHECK(local.differences_of(all_examples()) == "");
  const auto &joined = local.messages_of_joined(), &by_node = local.messages_by_node();
  CAPTURE(joined.total(), by_node.total());
  CHECK(by_node.total() > 2 * joined.total());
  CHECK(by_node.tokens > joined.tokens);
  CHECK(by_node.region_ends > joined.region_ends);
  // The graph decides about these.
  CHECK(by_node.starts == joined.starts);
  CHECK(by_node.requests == joined.requests);
  CHECK(by_node.answers == joined.answers);
  CHECK(by_node.fetches == joined.fetches);
  CHECK(by_node.step_ends == joined.step_ends);
  for (auto number : {joined.tokens, joined.requests, joined.fetches, joined.step_ends})
    CHECK(number > 0);
}

TEST_CASE("the messages of a loop whose iterations wait are counted with those of its iterations") {
  const std::string text = R"(
queue = FIFOQueue component_types=[i32] shapes=[[]] capacity=8
put = QueueEnqueueMany(queue, i32[1, 2, 3, 4, 5, 6])
target put
run
n = Placeholder dtype=i32 shape=[]
loop = while (i = i32(0), sum = i32(0)) {
  more = Less(i, n)
  return more
} do {
  i = Add(i, i32(1))
  next = QueueDequeue(queue) component_types=[i32]
  sum = Add(sum, next)
  return i, sum
}
)";
  message_counts last;
  for (const auto& [iterations, expected] : {std::pair{1, 1}, {2, 3}, {3, 6}}) {
    INFO(iterations << " iterations");
    region_comparison local{local_session(same_bits), local_session(same_bits_by_node), {""}};
    CHECK(local.differences_of({{"loop", concat(text, "feed n = i32(", iterations,
                                                ")\nfetch loop:1 = i32(", expected, ")\n")}}) ==
          "");
    const auto &joined = local.messages_of_joined(), &by_node = local.messages_by_node();
    CHECK(joined.requests == 1 + static_cast<uint64_t>(iterations)); // with the enqueue
    CHECK(by_node.requests == joined.requests);
    CHECK(by_node.total() > joined.total());
    CHECK(joined.tokens >= last.tokens);
    CHECK(joined.region_ends > last.region_ends);
    last = joined;
  }
}

TEST_CASE(
    "every text graph and every op's example gives the same as it was written, without passes") {
  watchdog watch;
  CHECK(failures_of_local(all_cases(), as_usual, pass_options::none()) == "");
  CHECK(failures_of_local(all_examples(), as_usual, pass_options::none()) == "");
}

TEST_CASE("every text graph gives the same with any single pass") {
  watchdog watch;
  auto cases = all_cases();
  for (auto pass : {&pass_options::fold, &pass_options::simplify, &pass_options::merge,
                    &pass_options::remove_dead, &pass_options::fuse, &pass_options::schedule,
                    &pass_options::hoist_collectives, &pass_options::hoist_invariants}) {
    auto passes = pass_options::none();
    passes.*pass = true;
    CHECK(failures_of_local(cases, as_usual, passes) == "");
  }
}

TEST_CASE("every text graph and every op's example gives the same if products use 16 bits") {
  watchdog watch;
  for (auto type : {dtype::bf16, dtype::f16}) {
    INFO(to_string(type));
    pass_options passes{.mixed_precision = type};
    CHECK(failures_of_local(all_cases(), as_usual, passes) == "");
    CHECK(failures_of_local(all_examples_for_16_bits(), as_usual, passes) == "");
  }
}

TEST_CASE("every text graph and every op's example gives the same on one, two and four workers") {
  watchdog watch{std::chrono::seconds{100}};
  auto cases = all_cases(), examples = all_examples();
  worker_processes workers;
  for (size_t count : {1, 2, 4}) {
    INFO("on " << count << " workers");
    CHECK(workers.failures_of(cases, count) == "");
    CHECK(workers.failures_of(examples, count) == "");
  }
  CHECK(workers.failures_of(cases, 2, node_by_node) == "");
  CHECK(workers.failures_of(examples, 2, node_by_node) == "");
}

TEST_CASE("an actor for each node gives the bits of joined regions on two workers") {
  watchdog watch{std::chrono::seconds{100}};
  // Sessions of one container would share their variables.
  worker_processes for_joined, for_nodes;
  region_comparison remote{for_joined.connect(2, same_bits),
                           for_nodes.connect(2, same_bits_by_node),
                           {"/job:worker/task:0", "/job:worker/task:1"}};
  CHECK(remote.differences_of(all_cases()) == "");
  const auto &joined = remote.messages_of_joined(), &by_node = remote.messages_by_node();
  CAPTURE(joined.total(), by_node.total());
  CHECK(joined.sends > 0);
  CHECK(by_node.sends == joined.sends);
  CHECK(by_node.total() > joined.total());
}

} // namespace troupe::test::text_graphs_test
