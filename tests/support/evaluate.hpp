// Runs a graph's kernels one after the other, without programs, regions or actors: the reference
// for tests of single ops, and for the real executor.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace troupe::test {

/// Keeps the graph's variables and tables from run to run. Inputs that no later node needs may be
/// overwritten, as in a program. Functions run node by node as well. Supports the queue ops
/// FIFOQueue, QueueEnqueue and QueueDequeue; a dequeue from an empty queue is an error.
class evaluator {
public:
  using feed = std::pair<edge, tensor>;
  /// Called with each node that has run, its inputs before the run (for refs the variable's value,
  /// empty while uninitialized) and its outputs (likewise).
  using observer = std::function<void(const node&, const std::vector<tensor>& inputs,
                                      const std::vector<tensor>& outputs)>;

  evaluator(const graph& graph_run, device& target_device)
      : graph_(graph_run), device_(target_device) {}

  result<std::vector<tensor>> run(const std::vector<feed>& feeds, const std::vector<edge>& fetches,
                                  const std::vector<node*>& targets = {});

  named_state& state_of(const node& state_node);
  variable& variable_of(const node& state_node) {
    return static_cast<variable&>(state_of(state_node));
  }
  /// With an observer, no memory is reused, so that the observer may keep tensors.
  void observe(observer observe_node) { observer_ = std::move(observe_node); }

private:
  struct compiled {
    kernel_fn run = nullptr;
    std::shared_ptr<void> state;
  };
  struct step;

  result<compiled*> compile(const node& compiled_node);
  status run_call(const node& node, step& current);
  result<std::vector<tensor>> call(const function_value& function, const node& caller,
                                   const std::vector<tensor>& arguments);
  struct node_inputs;
  result<node_inputs> read_inputs(const node& node, step& current);
  result<std::vector<tensor>> keep_outputs(const node& node, std::span<tensor> values,
                                           step& current);
  status run_node(const node& node, step& current);
  status run_queue(const node& node, step& current);
  result<tensor> read(edge read_edge, step& current);

  using element = std::vector<tensor>;
  using elements = std::shared_ptr<std::deque<element>>;
  elements queue_of(const node& state_node);

  const graph& graph_;
  device& device_;
  observer observer_;
  // The functions whose bodies enclose the graph, the outermost first.
  std::vector<function_value> around_;
  std::map<const node*, std::shared_ptr<named_state>> states_;
  std::map<const node*, elements> queues_;
  std::map<const node*, compiled> compiled_;
};

} // namespace troupe::test
