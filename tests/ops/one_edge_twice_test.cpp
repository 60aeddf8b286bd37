// A node may take one edge twice, or a variable and its value: a kernel must not write over an
// input that it still reads as the other. Passes make such nodes from equal expressions.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <algorithm>

namespace troupe::test::one_edge_twice_test {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<client> make_client() {
  client_options options;
  options.ops = &library();
  options.make_devices = []() -> result<std::vector<std::shared_ptr<device>>> {
    return std::vector<std::shared_ptr<device>>{make_cpu_device({.intra_op_threads = 1})};
  };
  options.inter_op_threads = 1;
  options.passes = pass_options::none(); // otherwise the two copies would be merged
  return *client::local(options);
}

// Runs the sample with `value` for inputs `a` and `b`, from one node for each, or from one node for
// both. Nothing else uses their outputs, so kernels may write over them.
result<std::vector<tensor>> run(client& session, const op_sample& sample, size_t a, size_t b,
                                bool shared) {
  graph nodes{library()};
  step_signature signature;
  const auto& value = sample.inputs[a];
  auto constant = [&](tensor value_known) -> result<edge> {
    auto type = value_known.type();
    TROUPE_ASSIGN(
        auto* constant_node,
        nodes.add({.op = "Const", .attrs = {{"value", std::move(value_known)}, {"dtype", type}}}));
    return edge{constant_node, 0};
  };
  TROUPE_ASSIGN(auto* fed, nodes.add({.op = "Placeholder",
                                      .attrs = {{"dtype", value.type()},
                                                {"shape", partial_shape{value.dims()}}}}));
  signature.feeds = {{fed, 0}};
  TROUPE_ASSIGN(auto ones, constant(tensor::vector(
                               std::vector<int32_t>(static_cast<size_t>(value.dims().rank()), 1))));
  std::vector<edge> inputs(sample.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i == b && shared) {
      inputs[b] = inputs[a];
    } else if (i == a || i == b) {
      TROUPE_ASSIGN(auto* copied, nodes.add({.op = "Tile", .inputs = {signature.feeds[0], ones}}));
      inputs[i] = {copied, 0};
    } else {
      TROUPE_ASSIGN(inputs[i], constant(sample.inputs[i]));
    }
  TROUPE_ASSIGN(auto* at, nodes.add({.op = std::string{sample.op->name},
                                     .inputs = std::move(inputs),
                                     .attrs = sample.attrs}));
  for (int i = 0; i < at->outputs(); ++i)
    signature.fetches.push_back(at->output(i));
  signature.targets = {at};
  auto deadline = step_clock::now() + 20s;
  TROUPE_ASSIGN(auto step, session.prepare(nodes, signature, deadline));
  return session.run(*step, std::vector{value}, deadline);
}

std::string difference(const result<std::vector<tensor>>& separate_run,
                       const result<std::vector<tensor>>& shared_run) {
  if (!separate_run.status().ok() || !shared_run.status().ok())
    return separate_run.status().kind() == shared_run.status().kind()
               ? ""
               : concat(separate_run.status(), " became ", shared_run.status());
  for (size_t i = 0; i < separate_run->size(); ++i)
    if (std::string mismatch; !identical((*separate_run)[i], (*shared_run)[i]) &&
                              !close_to((*shared_run)[i], (*separate_run)[i], 0, &mismatch))
      return concat("output ", i, ": ", mismatch);
  return "";
}

// Runs the op, whose input `b` has the value of the variable at input `a`: that value itself, so
// that both share memory where updates do not lock, or a copy. Returns its outputs and variables.
result<std::vector<tensor>> update(op_sample sample, size_t a, size_t b, bool shared) {
  if (sample.op->find_attr("use_locking"))
    sample.attrs["use_locking"] = false;
  sample.inputs[b] = sample.inputs[a];
  TROUPE_ASSIGN(auto built, rebuild(library(), sample, true));
  evaluator graph_evaluator{*built.owned_graph, small_device()};
  for (const auto& [node, value] : built.variables)
    if (!value.empty()) {
      TROUPE_TRY(graph_evaluator.variable_of(*node).assign(value));
      // now in memory of its own
      TROUPE_TRY(graph_evaluator.variable_of(*node).update([](tensor&) { return status{}; }));
    }
  TROUPE_ASSIGN(auto read,
                graph_evaluator.variable_of(*built.sample_node->inputs()[a].node).read());
  for (auto& [to, value] : built.feeds)
    if (is_same_edge(to, built.sample_node->inputs()[b])) {
      if (shared) {
        value = read;
      } else {
        TROUPE_ASSIGN(value, read.clone());
      }
    }
  read.reset();
  std::vector<edge> fetches;
  for (int i = 0; i < built.sample_node->outputs(); ++i)
    if (!built.sample_node->output_is_ref(i))
      fetches.push_back(built.sample_node->output(i));
  TROUPE_ASSIGN(auto outputs, graph_evaluator.run(built.feeds, fetches, {built.sample_node}));
  for (const auto& [node, value] : built.variables)
    if (graph_evaluator.variable_of(*node).initialized())
      outputs.push_back(*graph_evaluator.variable_of(*node).read());
  return outputs;
}

// The sample, and, if it has indices, copies in which each row of the variable is moved to the
// place of the next, with indices of rows or coordinates.
std::vector<op_sample> with_rows_moved(const op_sample& sample, size_t variable) {
  std::vector<op_sample> samples{sample};
  for (size_t i = 0; i < sample.op->inputs.size() && i < sample.inputs.size(); ++i)
    if (sample.op->inputs[i].name == "indices" && sample.inputs[variable].rank() > 0) {
      auto rows = sample.inputs[variable].dims()[0];
      std::vector<int32_t> next(static_cast<size_t>(rows));
      for (int64_t k = 0; k < rows; ++k)
        next[static_cast<size_t>(k)] = static_cast<int32_t>((k + 1) % rows);
      for (const auto& dims : {shape{rows}, shape{rows, 1}}) {
        samples.push_back(sample);
        samples.back().inputs[i] =
            converted(tensor::vector(next).reshaped(dims), sample.inputs[i].type());
      }
    }
  return samples;
}

} // namespace

TEST_CASE("every op computes the same if two of its inputs are one edge") {
  auto in = make_client();
  int pairs = 0;
  check_every_op([&](const op_def& op) {
    failure_list errors;
    auto refers = std::ranges::any_of(op.inputs, [](const port& at) { return at.ref; });
    if (needs_runtime(library(), op) || refers || has(op.effects, effect::random))
      return errors;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    for (const auto& sample : shown.samples)
      for (size_t a = 0; a < sample.inputs.size(); ++a)
        for (auto b = a + 1; b < sample.inputs.size(); ++b) {
          const auto &x = sample.inputs[a], &y = sample.inputs[b];
          if (x.type() != y.type() || x.dims().rank() == 0)
            continue;
          ++pairs;
          if (auto mismatch =
                  difference(run(*in, sample, a, b, false), run(*in, sample, a, b, true));
              !mismatch.empty())
            errors.push_back(concat("inputs ", a, " and ", b, ": ", mismatch));
        }
    return errors;
  });
  CHECK(pairs > 300);
}

TEST_CASE("every update does the same if its operand is the value of the changed variable") {
  int updates = 0;
  check_every_op([&](const op_def& op) {
    failure_list errors;
    if (needs_runtime(library(), op))
      return errors;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    for (const auto& sample : shown.samples)
      for (size_t a = 0; a < op.inputs.size() && sample.tables.empty(); ++a)
        for (size_t b = 0; b < op.inputs.size(); ++b) {
          if (!op.inputs[a].ref || op.inputs[b].ref || op.inputs[a].type.empty() ||
              op.inputs[a].type != op.inputs[b].type || sample.inputs[a].empty())
            continue;
          for (const auto& moved_sample : with_rows_moved(sample, a)) {
            auto copied = update(moved_sample, a, b, false);
            updates += copied.ok();
            if (auto mismatch = difference(copied, update(moved_sample, a, b, true));
                !mismatch.empty())
              errors.push_back(concat("inputs ", a, " and ", b, ": ", mismatch));
          }
        }
    return errors;
  });
  CHECK(updates > 100);
}

} // namespace troupe::test::one_edge_twice_test
