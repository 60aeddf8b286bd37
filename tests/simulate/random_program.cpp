#include "tests/simulate/random_program.hpp"

#include <sstream>

namespace troupe::simulate {
namespace {

constexpr int statements = 12;

std::vector<std::string> devices_of(const layout& lay) {
  std::vector<std::string> devices;
  for (int i = 0; i < lay.workers; ++i)
    devices.push_back(concat("/job:worker/task:", i));
  for (int i = 0; i < lay.servers; ++i)
    devices.push_back(concat("/job:ps/task:", i));
  return devices;
}

} // namespace

random_program::random_program(core& simulation, ledger& book, const layout& lay, int client,
                               uint64_t number)
    : core_(simulation), ledger_(book), device_(simulation, ledger::interpreter, 0),
      nodes_(ledger::ops()), interpreter_(nodes_, device_) {
  dice chance{simulation.settings.seed, concat("program ", number, " of client ", client)};
  run_ = nodes_.placeholder(dtype::i64, shape{}, "run");
  auto mark = [this](edge value) {
    return value_or_throw(nodes_.innermost().add(
                              {.op = "Tally",
                               .inputs = {run_, value},
                               .attrs = {{"slot", marks_++}, {"event", int64_t{ledger::came}}}}))
        ->output(0);
  };
  drawn_ = test::program_drawer{nodes_,
                                chance.roll(),
                                statements,
                                {.devices = devices_of(lay),
                                 .queues = chance.permille(500),
                                 .container = "programs",
                                 .prefix = concat("client", client, "_program", number, '_'),
                                 .transform_update = mark}}
               .draw();
  // Each task records where a step has run.
  std::vector<node*> everywhere;
  for (const auto& device : devices_of(lay)) {
    auto node_on_device = nodes_.on(device);
    everywhere.push_back(mark(nodes_.constant(int64_t{0})).node);
  }
  begin_ = {.feeds = {run_}, .targets = everywhere};
  begin_.targets.push_back(nodes_.initializer());
  if (drawn_.fill)
    begin_.targets.push_back(drawn_.fill);
  turn_ = {.feeds = {run_, drawn_.input}, .fetches = drawn_.outputs, .targets = everywhere};
  turn_.targets.insert(turn_.targets.end(), drawn_.effects.begin(), drawn_.effects.end());
  for (const auto& variable : drawn_.variables)
    turn_.fetches.push_back(variable.ref);
}

std::map<int64_t, int64_t> random_program::interpret(const step_signature& signature) {
  std::vector<test::evaluator::feed> fed;
  turns_ += &signature == &turn_;
  auto values = feeds(signature, 0);
  for (size_t i = 0; i < signature.feeds.size(); ++i)
    fed.push_back({signature.feeds[i], values[i]});
  std::vector<edge> fetches;
  if (!signature.fetches.empty())
    fetches = drawn_.outputs;
  auto results = interpreter_.run(fed, fetches, signature.targets);
  if (!results) {
    core_.violated("the interpreter runs all programs", results.status().message());
    return {};
  }
  wanted_ = *std::move(results);
  if (!signature.fetches.empty())
    for (const auto& variable : drawn_.variables)
      wanted_.push_back(*interpreter_.variable_of(*variable.ref.node).read());
  return ledger_.interpreted();
}

std::vector<tensor> random_program::feeds(const step_signature& signature, uint64_t run) const {
  std::vector<tensor> values{
      tensor::scalar(static_cast<int64_t>(run)),
      tensor::vector<int64_t>({turns_, static_cast<int64_t>(core_.settings.seed % 100)})};
  values.resize(signature.feeds.size());
  return values;
}

std::string random_program::difference(const std::vector<tensor>& fetches) const {
  for (size_t i = 0; i < wanted_.size(); ++i)
    if (!identical(fetches[i], wanted_[i])) {
      std::ostringstream text;
      text << "fetch " << i << " is " << fetches[i] << ", must be " << wanted_[i];
      return std::move(text).str();
    }
  return {};
}

} // namespace troupe::simulate
