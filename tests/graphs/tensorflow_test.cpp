// Models that TensorFlow has built and run give the same results in Troupe
// (tests/graphs/tensorflow/generate.py).
#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/unzip.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/text/close_to.hpp"

namespace troupe::test::tensorflow_test {

namespace {

/// A model, and the feeds and expected values of each step, as in text graphs.
struct model {
  graph nodes{library()};
  std::vector<text_run> steps;
};

// Reads a Const "feed_0/x", "expect_0/y", "byname_0" or "fails_0" of the file, or the node "run_0",
// into the steps.
void read_step(const imported_graph& imported_nodes, node& at, std::vector<text_run>& steps) {
  std::string_view name = at.name();
  auto stem = name.substr(0, name.find('_'));
  if (stem != "feed" && stem != "expect" && stem != "run" && stem != "fails" && stem != "byname")
    return;
  auto slash = name.find('/');
  auto number = std::stoul(std::string{name.substr(stem.size() + 1, slash - stem.size() - 1)});
  steps.resize(std::max(steps.size(), number + 1));
  auto& step = steps[number];
  if (stem == "run") {
    step.targets.insert(step.targets.end(), at.controls().begin(), at.controls().end());
    return;
  }
  if (stem == "byname") {
    const auto& names = *constant_value(at.output(0));
    for (int64_t i = 0; i < names.elements(); ++i) {
      auto* target = imported_nodes.find(names.data<std::string>()[i]);
      INFO(names.data<std::string>()[i]);
      REQUIRE(target);
      step.targets.push_back(target);
    }
    return;
  }
  if (stem == "fails") {
    const auto& kind = *constant_value(at.output(0))->data<std::string>();
    REQUIRE((kind == "out_of_range" || kind == "invalid_argument"));
    step.error = text_error{
        kind == "out_of_range" ? error_kind::out_of_range : error_kind::invalid_argument, ""};
    return;
  }
  std::string edge_name{name.substr(slash + 1)};
  if (edge_name.ends_with("-1"))
    edge_name.replace(edge_name.size() - 2, 1, ":");
  auto named_edge = imported_nodes.find_edge(edge_name);
  INFO(named_edge.status());
  REQUIRE(named_edge);
  auto value = *constant_value(at.output(0));
  if (stem == "feed")
    step.feeds.push_back({*named_edge, value});
  else
    step.fetches.push_back({*named_edge, value, default_tolerance(value.type()), 0});
}

std::unique_ptr<model> imported(const std::string& bytes) {
  auto new_model = std::make_unique<model>();
  auto in = read_graph_def(std::as_bytes(std::span{bytes}), new_model->nodes);
  INFO(in.status());
  REQUIRE(in);
  for (const auto& at : new_model->nodes.nodes())
    read_step(*in, *at, new_model->steps);
  REQUIRE_FALSE(new_model->steps.empty());
  return new_model;
}

std::string failures_of(const model& tested, const pass_options& passes) {
  client_options options;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 2, .gpus = 0}); };
  options.passes = passes;
  auto local = client::local(options);
  REQUIRE(local);
  std::string failures;
  for (size_t i = 0; i < tested.steps.size(); ++i) {
    auto deadline = step_clock::now() + std::chrono::seconds{20};
    auto outcome = [&]() -> result<std::vector<tensor>> {
      auto signature = signature_of(tested.steps[i]);
      if (signature.fetches.empty() && signature.targets.empty())
        return std::vector<tensor>{};
      TROUPE_ASSIGN(auto step, (*local)->prepare(tested.nodes, signature, deadline));
      return (*local)->run(*step, feeds_of(tested.steps[i]), deadline);
    }();
    if (auto failure_text = difference_of(tested.steps[i], outcome); !failure_text.empty())
      failures += concat("step ", i, ": ", failure_text, '\n');
  }
  return failures;
}

// Sets a folder in which this process may write files.
void use_folder(model& tested, const std::string& path) {
  for (auto& step : tested.steps)
    for (auto& fed : step.feeds)
      if (fed.fed_edge.node->name() == "folder")
        fed.value = tensor::scalar(path);
}

void run(const std::string& name) {
  watchdog watch;
  temporary_folder folder;
  auto bytes = unzipped(data_folder("graphs/tensorflow") / concat(name, ".pb.gz"));
  auto original = imported(bytes);
  use_folder(*original, folder / "files");
  CHECK(failures_of(*original, pass_options::none()) == "");
  CHECK(failures_of(*original, {}) == "");
}

constexpr const char* arrays[] = {"single",
                                  "several",
                                  "rows",
                                  "growing",
                                  "unread",
                                  "gradient_arrays",
                                  "second_generation",
                                  "captured",
                                  "carried",
                                  "within",
                                  "branches",
                                  "called",
                                  "first_generation",
                                  "stacks",
                                  "errors",
                                  "old_loop",
                                  "old_recurrent",
                                  "old_nested"};

constexpr const char* functions[] = {
    "choice",  "switch",    "counting",   "power_iteration", "collatz",
    "divisor", "nested",    "root",       "state",           "chosen_state",
    "growing", "recurrent", "mandelbrot", "sorting",         "calls_in_branches"};

constexpr const char* sequences[] = {
    "list_ops",        "list_gradients", "mapped",          "folded",        "scanned",
    "power_gradient",  "second_order",   "branch_gradient", "case_gradient", "call_gradient",
    "nested_gradient", "collected",      "arrays",          "recurrent_net", "lstm",
    "beam_search",     "custom",         "descent"};

constexpr const char* of_first_version[] = {"cond",
                                            "nested_cond",
                                            "case",
                                            "counting",
                                            "nested_loops",
                                            "cond_in_loop",
                                            "loop_in_cond",
                                            "everything_in_everything",
                                            "effects",
                                            "several_exits",
                                            "invariants",
                                            "growing",
                                            "switch_alone",
                                            "control_edges",
                                            "references",
                                            "merges",
                                            "cond_gradient",
                                            "moving_averages",
                                            "assertions",
                                            "in_functions",
                                            "shared_condition"};

constexpr const char* trained[] = {
    "lstm",       "gru_with_lengths", "bidirectional",       "static",       "gates",
    "functional", "branch_in_loop",   "loop_in_branch",      "nested_loops", "rows_in_loop",
    "by_handle",  "decoder",          "recurrent_in_branch", "between"};

} // namespace

TEST_CASE("a convolutional network of TensorFlow gives the same classes") { run("convnet"); }

TEST_CASE("an unrolled language model of TensorFlow gives the same predictions") {
  run("language");
}

TEST_CASE("a graph of TensorFlow with gradients and momentum learns the same") { run("momentum"); }

TEST_CASE("a graph of TensorFlow with gradients and Adam learns the same") { run("adam"); }

TEST_CASE("functions of TensorFlow 2 that call each other give the same results") {
  run("functions");
}

TEST_CASE("lookup tables of both versions of TensorFlow find and keep the same values") {
  run("tables");
}

TEST_CASE("queues of TensorFlow, of both generations, give the same elements") { run("queues"); }

TEST_CASE("accumulators, barriers and staging areas of TensorFlow give the same results") {
  run("coordination");
}

TEST_CASE("branches, loops and calls of TensorFlow 2 give the same results") {
  for (const auto* name : functions) {
    INFO(name);
    run(concat("flow_", name));
  }
}

TEST_CASE(
    "branches and loops of TensorFlow 1, of Switch, Merge and frames, give the same results") {
  for (const auto* name : of_first_version) {
    INFO(name);
    run(concat("v1_", name));
  }
}

TEST_CASE("training programs of TensorFlow 1 with loops and branches learn the same") {
  for (const auto* name : trained) {
    INFO(name);
    run(concat("v1_trained_", name));
  }
}

TEST_CASE(
    "lists, loops over them, and gradients of loops and branches of TensorFlow 2 give the same") {
  for (const auto* name : sequences) {
    INFO(name);
    run(concat("flow_", name));
  }
}

TEST_CASE("TensorArrays and stacks of all generations of TensorFlow give the same results") {
  for (const auto* name : arrays) {
    INFO(name);
    run(concat("array_", name));
  }
}

TEST_CASE("readers of both generations of TensorFlow read the same records") { run("readers"); }

TEST_CASE("an input pipeline of TensorFlow gives the same batches") { run("input_program"); }

TEST_CASE("unfrozen graphs of TensorFlow 2 with variables learn the same") {
  for (auto name : {"descent", "momentum", "adam", "embedding", "order", "rows", "optimizers",
                    "convnet", "recurrent", "first_api", "growing", "averages", "keras_sgd",
                    "keras_adam", "keras_rmsprop"}) {
    INFO(name);
    run(concat("v2_", name));
  }
}

TEST_CASE("a model of TensorFlow is the same after writing and reading") {
  for (auto name : {"momentum", "functions", "tables", "v2_momentum", "v2_order", "v2_rows",
                    "v2_first_api", "v2_keras_adam"}) {
    auto bytes = unzipped(data_folder("graphs/tensorflow") / concat(name, ".pb.gz"));
    auto first = imported(bytes);
    auto written = write_graph_def(first->nodes);
    REQUIRE(written);
    graph read_back{library()};
    auto in = read_graph_def(std::as_bytes(std::span{*written}), read_back);
    INFO(in.status());
    REQUIRE(in);
    CHECK(describe(read_back) == describe(first->nodes));
  }
}

TEST_CASE("functions of TensorFlow give the same results after writing and reading") {
  watchdog watch;
  auto check = [](std::string_view family, std::string_view name) {
    INFO(name);
    auto bytes = unzipped(data_folder("graphs/tensorflow") / concat(family, name, ".pb.gz"));
    auto written = write_graph_def(imported(bytes)->nodes);
    INFO(written.status());
    REQUIRE(written);
    CHECK(failures_of(*imported(*written), {}) == "");
  };
  for (const auto* name : functions)
    check("flow_", name);
  for (const auto* name : sequences)
    check("flow_", name);
  for (const auto* name : arrays)
    check("array_", name);
  for (const auto* name : trained)
    check("v1_trained_", name);
}

} // namespace troupe::test::tensorflow_test
