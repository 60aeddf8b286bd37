#include "tests/support/pass_case.hpp"

#include "troupe/api/error.hpp"
#include "troupe/runtime/program/instance.hpp"

#include <map>
#include <stdexcept>

namespace troupe::test {

pass_case::pass_case(std::string_view source) : text(source) {
  auto result = extract(*text.nodes, signature_of(text.text.runs.at(0)));
  if (!result)
    throw std::runtime_error{result.status().message()};
  closed = *std::move(result);
}

std::string pass_case::written() const { return test::written(*closed.nodes); }

node& pass_case::operator[](std::string_view name) const {
  auto* named_node = closed.nodes->find(name);
  if (!named_node)
    throw std::runtime_error{concat("there is no node ", name, " in ", written())};
  return *named_node;
}

namespace {

std::string name_of(edge named_edge) {
  return named_edge.node->op().name == "_Feed"
             ? concat("_feed_", named_edge.node->attr<int64_t>("index"))
             : named_edge.name();
}

} // namespace

std::string written(const graph& printed_graph) {
  std::string text;
  for (const auto& node : printed_graph.nodes()) {
    if (node->op().name == "_Feed")
      continue;
    text += text.empty() ? "" : " ";
    if (node->op().name == "_Fetch") {
      text += concat("->", name_of(node->inputs()[0]));
      continue;
    }
    text += concat(node->name(), '=', node->op().name, '(');
    const char* separator = "";
    for (const auto& input : node->inputs())
      text += concat(std::exchange(separator, ","), name_of(input));
    for (auto* before : node->controls())
      text += concat(std::exchange(separator, ","), '^', before->name());
    text += ')';
  }
  return text;
}

namespace {

class fetch_recorder final : public emission_sink {
public:
  std::map<uint32_t, tensor> fetched;

  void send_token(token&&) override { throw std::logic_error{"there is one region"}; }
  void send_export(uint32_t, tensor&&, bool) override {
    throw std::logic_error{"there is one device"};
  }
  void send_fetch(uint32_t index, tensor&& value, bool) override {
    fetched[index] = std::move(value);
  }
  void start_wait(uint32_t, std::span<tensor>) override { throw std::logic_error{"nothing waits"}; }
};

} // namespace

result<std::vector<tensor>> run_closed(step_graph closed_graph, const std::vector<tensor>& feeds) {
  auto no_state = [](const node& node) -> result<std::shared_ptr<named_state>> {
    return invalid(node.description(), ": state is not for this test");
  };
  TROUPE_ASSIGN(auto program, program::compile(std::move(closed_graph.nodes), host(), no_state));
  instance run_instance{program};
  for (size_t i = 0; i < program->feeds().size(); ++i)
    run_instance.set_feed(i, feeds.at(program->feeds()[i].index));
  fetch_recorder keeper;
  stop_signal stop;
  TROUPE_TRY(run_instance.run(0, keeper, stop));
  std::vector<tensor> fetched;
  for (auto& [index, value] : keeper.fetched)
    fetched.push_back(std::move(value));
  return fetched;
}

device& host() {
  static const auto devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
  return *devices.front();
}

} // namespace troupe::test
