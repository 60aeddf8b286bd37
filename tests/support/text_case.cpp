#include "tests/support/text_case.hpp"

#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <stdexcept>
#include <unordered_map>

namespace troupe::test {

text_case::text_case(std::string_view source, std::string_view file, const registry* ops)
    : nodes(std::make_unique<graph>(ops ? *ops : library())) {
  auto parsed = parse_text_graph(source, file, *nodes);
  if (!parsed)
    throw std::runtime_error{parsed.status().message()};
  text = *std::move(parsed);
}

step_signature signature_of(const text_run& run) {
  step_signature signature;
  for (const auto& fed : run.feeds)
    signature.feeds.push_back(fed.fed_edge);
  for (const auto& fetched : run.fetches)
    signature.fetches.push_back(fetched.fetched_edge);
  signature.targets = run.targets;
  return signature;
}

std::vector<tensor> feeds_of(const text_run& run) {
  std::vector<tensor> values;
  for (const auto& fed : run.feeds)
    values.push_back(fed.value);
  return values;
}

std::string difference_of(const text_run& run, const result<std::vector<tensor>>& outcome) {
  auto prefix = concat("run at line ", run.line, ": ");
  if (run.error) {
    auto expected = check_error(*run.error, outcome.status());
    return expected ? "" : prefix + expected.message();
  }
  if (!outcome)
    return prefix + concat(outcome.status());
  std::string problem;
  for (size_t i = 0; i < run.fetches.size(); ++i)
    if (const auto& fetch = run.fetches[i];
        fetch.expected && !close_to((*outcome)[i], *fetch.expected, fetch.tolerance, &problem))
      return concat("line ", fetch.line, ": ", problem);
  return "";
}

std::chrono::milliseconds patience() { return std::chrono::seconds{20} * timeout_factor(); }

result<std::vector<tensor>> run(client& tested_client, const text_case& test_case, size_t run_index,
                                std::chrono::milliseconds timeout) {
  const auto& text_run = test_case.text.runs.at(run_index);
  auto deadline = step_clock::now() + timeout;
  TROUPE_ASSIGN(auto step,
                tested_client.prepare(*test_case.nodes, signature_of(text_run), deadline));
  return tested_client.run(*step, feeds_of(text_run), deadline);
}

std::string run_all(client& tested_client, const text_case& test_case) {
  for (size_t i = 0; i < test_case.text.runs.size(); ++i)
    if (auto run_difference =
            difference_of(test_case.text.runs[i], run(tested_client, test_case, i));
        !run_difference.empty())
      return run_difference;
  return "";
}

text_graph place_each(const text_graph& text, const graph& from, graph& target,
                      const std::function<std::string(const node&)>& device_of) {
  std::unordered_map<const node*, node*> copies;
  auto moved = [&](edge output) { return edge{copies.at(output.node), output.index}; };
  for (const auto& n : from.nodes()) {
    std::vector<edge> inputs;
    std::vector<node*> controls;
    for (const auto& input : n->inputs())
      inputs.push_back(moved(input));
    for (auto* before : n->controls())
      controls.push_back(copies.at(before));
    auto copy = target.add({.op = std::string{n->op().name},
                            .name = n->name(),
                            .inputs = std::move(inputs),
                            .attrs = n->attrs(),
                            .controls = std::move(controls),
                            .device = n->device().empty() ? device_of(*n) : std::string{}});
    if (!copy)
      throw std::runtime_error{copy.status().message()};
    copies[n.get()] = *copy;
  }
  auto placed = text;
  for (auto& run : placed.runs) {
    for (auto& fed : run.feeds)
      fed.fed_edge = moved(fed.fed_edge);
    for (auto& fetched : run.fetches)
      fetched.fetched_edge = moved(fetched.fetched_edge);
    for (auto& run_target : run.targets)
      run_target = copies.at(run_target);
  }
  return placed;
}

text_graph spread(const text_graph& text, const graph& from, graph& target,
                  const std::vector<std::string>& devices, size_t first) {
  auto next = first;
  return place_each(text, from, target, [&](const node& graph_node) {
    bool refs = uses_state(graph_node);
    for (int i = 0; i < graph_node.outputs(); ++i)
      refs = refs || graph_node.output_is_ref(i);
    if (graph_node.op().state_kind != resource::none && graph_node.op().start_operation)
      return devices[first % devices.size()]; // its resource has a name, which the nodes share
    if (graph_node.op().name.starts_with("TensorArray") ||
        graph_node.op().name.starts_with("Stack"))
      return devices[first % devices.size()]; // their handles cannot be sent
    return refs ? std::string{} : devices[next++ % devices.size()];
  });
}

} // namespace troupe::test
