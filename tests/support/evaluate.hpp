// Runs a graph's kernels one after the other, without programs, regions or actors: the reference
// that tests of single ops use, and that the real executor is compared with.
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
/// overwritten, as in a program. Functions run node by node, too. Of queues it knows FIFOQueue,
/// QueueEnqueue and QueueDequeue; a queue that is empty is an error.
class evaluator {
public:
  using feed = std::pair<edge, tensor>;
  /// Sees each node that has run, its inputs from before (for refs the variable's value, empty when
  /// uninitialised) and its outputs (likewise).
  using observer = std::function<void(const node&, const std::vector<tensor>& inputs,
                                      const std::vector<tensor>& outputs)>;

  evaluator(const graph& of, device& on) : graph_(of), device_(on) {}

  result<std::vector<tensor>> run(const std::vector<feed>& feeds, const std::vector<edge>& fetches,
                                  const std::vector<node*>& targets = {});

  named_state& state_of(const node& stands_for_it);
  variable& variable_of(const node& stands_for_it) {
    return static_cast<variable&>(state_of(stands_for_it));
  }
  /// Given an observer, no memory is reused: what it keeps stays as it is.
  void observe(observer by) { observer_ = std::move(by); }

private:
  struct compiled {
    kernel_fn run = nullptr;
    std::shared_ptr<void> state;
  };
  struct step;

  result<compiled*> compile(const node& of);
  status run_call(const node& node, step& in);
  result<std::vector<tensor>> call(const function_value& what, const node& by,
                                   const std::vector<tensor>& arguments);
  status run_node(const node& node, step& in);
  status run_queue(const node& node, step& in);
  result<tensor> read(edge of, step& in);

  using element = std::vector<tensor>;
  using elements = std::shared_ptr<std::deque<element>>;
  elements queue_of(const node& stands_for_it);

  const graph& graph_;
  device& device_;
  observer observer_;
  std::vector<function_value> around_; // whose body the graph is, the outermost first
  std::map<const node*, std::shared_ptr<named_state>> states_;
  std::map<const node*, elements> queues_;
  std::map<const node*, compiled> compiled_;
};

} // namespace troupe::test
