// An edge that a node takes twice, or a variable and its value: what a kernel writes over one input
// must not be what it still reads as the other. Passes make such nodes of equal expressions.
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
  options.passes = pass_options::none(); // or the two copies would be merged
  return *client::local(options);
}

// Runs the sample with `value` for inputs `a` and `b`, each made by a node of its own, or both by
// one. Nothing else uses what these make, so kernels may write over it.
result<std::vector<tensor>> run(client& in, const op_sample& of, size_t a, size_t b, bool shared) {
  graph nodes{library()};
  step_signature what;
  const auto& value = of.inputs[a];
  auto constant = [&](tensor known) -> result<edge> {
    auto type = known.type();
    TROUPE_ASSIGN(auto* made, nodes.add({.op = "Const",
                                         .attrs = {{"value", std::move(known)}, {"dtype", type}}}));
    return edge{made, 0};
  };
  TROUPE_ASSIGN(auto* fed, nodes.add({.op = "Placeholder",
                                      .attrs = {{"dtype", value.type()},
                                                {"shape", partial_shape{value.dims()}}}}));
  what.feeds = {{fed, 0}};
  TROUPE_ASSIGN(auto ones, constant(tensor::vector(
                               std::vector<int32_t>(static_cast<size_t>(value.dims().rank()), 1))));
  std::vector<edge> inputs(of.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i == b && shared) {
      inputs[b] = inputs[a];
    } else if (i == a || i == b) {
      TROUPE_ASSIGN(auto* copied, nodes.add({.op = "Tile", .inputs = {what.feeds[0], ones}}));
      inputs[i] = {copied, 0};
    } else {
      TROUPE_ASSIGN(inputs[i], constant(of.inputs[i]));
    }
  TROUPE_ASSIGN(
      auto* at,
      nodes.add({.op = std::string{of.op->name}, .inputs = std::move(inputs), .attrs = of.attrs}));
  for (int i = 0; i < at->outputs(); ++i)
    what.fetches.push_back(at->output(i));
  what.targets = {at};
  auto deadline = step_clock::now() + 20s;
  TROUPE_ASSIGN(auto step, in.prepare(nodes, what, deadline));
  return in.run(*step, std::vector{value}, deadline);
}

std::string difference(const result<std::vector<tensor>>& one,
                       const result<std::vector<tensor>>& twice) {
  if (!one.status().ok() || !twice.status().ok())
    return one.status().kind() == twice.status().kind()
               ? ""
               : concat(one.status(), " became ", twice.status());
  for (size_t i = 0; i < one->size(); ++i)
    if (std::string why;
        !identical((*one)[i], (*twice)[i]) && !close_to((*twice)[i], (*one)[i], 0, &why))
      return concat("output ", i, ": ", why);
  return "";
}

// What the op does to its variables and gives, where input `b` has the value of the variable at
// input `a`: as it was read, so that both are one memory where updates do not lock, or a copy.
result<std::vector<tensor>> update(op_sample sample, size_t a, size_t b, bool shared) {
  if (sample.op->find_attr("use_locking"))
    sample.attrs["use_locking"] = false;
  sample.inputs[b] = sample.inputs[a];
  TROUPE_ASSIGN(auto built, rebuild(library(), sample, true));
  evaluator by{*built.in, small_device()};
  for (const auto& [node, value] : built.variables)
    if (!value.empty()) {
      TROUPE_TRY(by.variable_of(*node).assign(value));
      TROUPE_TRY(by.variable_of(*node).update([](tensor&) { return status{}; })); // its own memory
    }
  TROUPE_ASSIGN(auto read, by.variable_of(*built.at->inputs()[a].node).read());
  for (auto& [to, value] : built.feeds)
    if (is_same_edge(to, built.at->inputs()[b])) {
      if (shared) {
        value = read;
      } else {
        TROUPE_ASSIGN(value, read.clone());
      }
    }
  read.reset();
  std::vector<edge> fetches;
  for (int i = 0; i < built.at->outputs(); ++i)
    if (!built.at->output_is_ref(i))
      fetches.push_back(built.at->output(i));
  TROUPE_ASSIGN(auto found, by.run(built.feeds, fetches, {built.at}));
  for (const auto& [node, value] : built.variables)
    if (by.variable_of(*node).initialized())
      found.push_back(*by.variable_of(*node).read());
  return found;
}

// The sample, and where it has indices: with each row of the variable moved to the next one's
// place, which is row by row or as coordinates.
std::vector<op_sample> with_rows_moved(const op_sample& of, size_t variable) {
  std::vector<op_sample> all{of};
  for (size_t i = 0; i < of.op->inputs.size() && i < of.inputs.size(); ++i)
    if (of.op->inputs[i].name == "indices" && of.inputs[variable].rank() > 0) {
      auto rows = of.inputs[variable].dims()[0];
      std::vector<int32_t> next(static_cast<size_t>(rows));
      for (int64_t k = 0; k < rows; ++k)
        next[static_cast<size_t>(k)] = static_cast<int32_t>((k + 1) % rows);
      for (const auto& dims : {shape{rows}, shape{rows, 1}}) {
        all.push_back(of);
        all.back().inputs[i] = converted(tensor::vector(next).reshaped(dims), of.inputs[i].type());
      }
    }
  return all;
}

} // namespace

TEST_CASE("every op gives the same where two of its inputs are one edge") {
  auto in = make_client();
  int pairs = 0;
  check_every_op([&](const op_def& op) {
    device_errors found;
    auto refers = std::ranges::any_of(op.inputs, [](const port& at) { return at.ref; });
    if (needs_runtime(library(), op) || refers || has(op.effects, effect::random))
      return found;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    for (const auto& sample : shown.samples)
      for (size_t a = 0; a < sample.inputs.size(); ++a)
        for (auto b = a + 1; b < sample.inputs.size(); ++b) {
          const auto &x = sample.inputs[a], &y = sample.inputs[b];
          if (x.type() != y.type() || x.dims().rank() == 0)
            continue;
          ++pairs;
          if (auto why = difference(run(*in, sample, a, b, false), run(*in, sample, a, b, true));
              !why.empty())
            found.push_back(concat("inputs ", a, " and ", b, ": ", why));
        }
    return found;
  });
  CHECK(pairs > 300);
}

TEST_CASE("every update does the same where it takes the value of the variable that it changes") {
  int updates = 0;
  check_every_op([&](const op_def& op) {
    device_errors found;
    if (needs_runtime(library(), op))
      return found;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    for (const auto& sample : shown.samples)
      for (size_t a = 0; a < op.inputs.size() && sample.tables.empty(); ++a)
        for (size_t b = 0; b < op.inputs.size(); ++b) {
          if (!op.inputs[a].ref || op.inputs[b].ref || op.inputs[a].type.empty() ||
              op.inputs[a].type != op.inputs[b].type || sample.inputs[a].empty())
            continue;
          for (const auto& one : with_rows_moved(sample, a)) {
            auto copied = update(one, a, b, false);
            updates += copied.ok();
            if (auto why = difference(copied, update(one, a, b, true)); !why.empty())
              found.push_back(concat("inputs ", a, " and ", b, ": ", why));
          }
        }
    return found;
  });
  CHECK(updates > 100);
}

} // namespace troupe::test::one_edge_twice_test
