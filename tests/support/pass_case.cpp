#include "tests/support/pass_case.hpp"

#include "troupe/api/error.hpp"
#include "troupe/runtime/program/instance.hpp"

#include <map>
#include <stdexcept>

namespace troupe::test {

pass_case::pass_case(std::string_view source) : text(source) {
  auto made = extract(*text.nodes, signature_of(text.text.runs.at(0)));
  if (!made)
    throw std::runtime_error{made.status().message()};
  closed = *std::move(made);
}

std::string pass_case::written() const { return test::written(*closed.nodes); }

node& pass_case::operator[](std::string_view name) const {
  auto* found = closed.nodes->find(name);
  if (!found)
    throw std::runtime_error{concat("there is no node ", name, " in ", written())};
  return *found;
}

namespace {

std::string name_of(edge what) {
  return what.node->op().name == "_Feed" ? concat("_feed_", what.node->attr<int64_t>("index"))
                                         : what.name();
}

} // namespace

std::string written(const graph& of) {
  std::string all;
  for (const auto& node : of.nodes()) {
    if (node->op().name == "_Feed")
      continue;
    all += all.empty() ? "" : " ";
    if (node->op().name == "_Fetch") {
      all += concat("->", name_of(node->inputs()[0]));
      continue;
    }
    all += concat(node->name(), '=', node->op().name, '(');
    const char* between = "";
    for (const auto& input : node->inputs())
      all += concat(std::exchange(between, ","), name_of(input));
    for (auto* before : node->controls())
      all += concat(std::exchange(between, ","), '^', before->name());
    all += ')';
  }
  return all;
}

namespace {

class fetch_keeper final : public emission_sink {
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

result<std::vector<tensor>> run_closed(step_graph of, const std::vector<tensor>& feeds) {
  auto no_state = [](const node& node) -> result<std::shared_ptr<named_state>> {
    return invalid(node.description(), ": state is not for this test");
  };
  TROUPE_ASSIGN(auto program, program::compile(std::move(of.nodes), host(), no_state));
  instance one{program};
  for (size_t i = 0; i < program->feeds().size(); ++i)
    one.set_feed(i, feeds.at(program->feeds()[i].index));
  fetch_keeper kept;
  stop_signal stop;
  TROUPE_TRY(one.run(0, kept, stop));
  std::vector<tensor> all;
  for (auto& [index, value] : kept.fetched)
    all.push_back(std::move(value));
  return all;
}

device& host() {
  static const auto devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
  return *devices.front();
}

} // namespace troupe::test
