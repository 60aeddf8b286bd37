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
  step_signature made;
  for (const auto& one : run.feeds)
    made.feeds.push_back(one.to);
  for (const auto& one : run.fetches)
    made.fetches.push_back(one.from);
  made.targets = run.targets;
  return made;
}

std::vector<tensor> feeds_of(const text_run& run) {
  std::vector<tensor> values;
  for (const auto& one : run.feeds)
    values.push_back(one.value);
  return values;
}

std::string complaint_about(const text_run& run, const result<std::vector<tensor>>& outcome) {
  auto at = concat("run at line ", run.line, ": ");
  if (run.error) {
    auto expected = check_error(*run.error, outcome.status());
    return expected ? "" : at + expected.message();
  }
  if (!outcome)
    return at + concat(outcome.status());
  std::string why;
  for (size_t i = 0; i < run.fetches.size(); ++i)
    if (const auto& fetch = run.fetches[i];
        fetch.expected && !close_to((*outcome)[i], *fetch.expected, fetch.tolerance, &why))
      return concat("line ", fetch.line, ": ", why);
  return "";
}

std::chrono::milliseconds patience() { return std::chrono::seconds{20} * patience_factor(); }

result<std::vector<tensor>> run(client& in, const text_case& what, size_t which,
                                std::chrono::milliseconds timeout) {
  const auto& one = what.text.runs.at(which);
  auto deadline = step_clock::now() + timeout;
  TROUPE_ASSIGN(auto step, in.prepare(*what.nodes, signature_of(one), deadline));
  return in.run(*step, feeds_of(one), deadline);
}

std::string run_all(client& in, const text_case& what) {
  for (size_t i = 0; i < what.text.runs.size(); ++i)
    if (auto why = complaint_about(what.text.runs[i], run(in, what, i)); !why.empty())
      return why;
  return "";
}

text_graph place_each(const text_graph& text, const graph& from, graph& to,
                      const std::function<std::string(const node&)>& device_of) {
  std::unordered_map<const node*, node*> copies;
  auto moved = [&](edge what) { return edge{copies.at(what.node), what.index}; };
  for (const auto& n : from.nodes()) {
    std::vector<edge> inputs;
    std::vector<node*> controls;
    for (const auto& input : n->inputs())
      inputs.push_back(moved(input));
    for (auto* before : n->controls())
      controls.push_back(copies.at(before));
    auto made = to.add({.op = std::string{n->op().name},
                        .name = n->name(),
                        .inputs = std::move(inputs),
                        .attrs = n->attrs(),
                        .controls = std::move(controls),
                        .device = n->device().empty() ? device_of(*n) : std::string{}});
    if (!made)
      throw std::runtime_error{made.status().message()};
    copies[n.get()] = *made;
  }
  auto placed = text;
  for (auto& run : placed.runs) {
    for (auto& one : run.feeds)
      one.to = moved(one.to);
    for (auto& one : run.fetches)
      one.from = moved(one.from);
    for (auto& one : run.targets)
      one = copies.at(one);
  }
  return placed;
}

text_graph spread(const text_graph& text, const graph& from, graph& to,
                  const std::vector<std::string>& devices, size_t first) {
  auto next = first;
  return place_each(text, from, to, [&](const node& at) {
    bool refs = uses_state(at);
    for (int i = 0; i < at.outputs(); ++i)
      refs = refs || at.output_is_ref(i);
    if (at.op().makes != resource::none && at.op().ask)
      return devices[first % devices.size()]; // what it asks has a name, and nodes share it
    if (at.op().name.starts_with("TensorArray") || at.op().name.starts_with("Stack"))
      return devices[first % devices.size()]; // their handles cannot be sent
    return refs ? std::string{} : devices[next++ % devices.size()];
  });
}

} // namespace troupe::test
