// Samples of an op's use, taken from the example in its definition and varied in type and value.
#pragma once
#include "tests/support/evaluate.hpp"
#include "troupe/ops/lookup/shared/lookup_table.hpp"

#include <string>
#include <vector>

namespace troupe::test {

/// A table that a node used, and its content at that time.
struct table_sample {
  std::string op; ///< of the table's node
  attr_map attrs = {};
  ops::table_content pairs = {}; ///< empty while uninitialized
};

/// A node of an example, with the inputs that it had in a run.
struct op_sample {
  const op_def* op = nullptr;
  attr_map attrs = {};             ///< those that the inputs do not determine
  std::vector<tensor> inputs = {}; ///< for refs the variable's value; empty while uninitialized
  std::map<size_t, table_sample> tables = {}; ///< by input
};

/// The result of running an example.
struct example_run {
  std::vector<op_sample> samples; ///< one for each run of a node of the op
  std::vector<std::string> failures;
};

enum class placeholders { as_written, as_fed, unknown };

/// Runs the op's example. `shapes` selects the shapes of placeholders: as the example writes them,
/// those of the fed tensors, or unknown. With `as_fed`, also reports nodes of the op whose shape is
/// not fully inferred.
example_run run_example(const registry& ops, const op_def& op, device& target_device,
                        placeholders shapes);

/// Runs a text graph and returns the differences from its expectations.
std::vector<std::string> differences_of(const registry& ops, std::string_view text,
                                        device& target_device);

/// Returns whether the example needs more than kernels: queues, control flow.
bool needs_runtime(const registry& ops, const op_def& op);

/// A sample rebuilt in a graph.
struct rebuilt {
  std::unique_ptr<graph> owned_graph;
  node* sample_node = nullptr;
  std::vector<evaluator::feed> feeds;
  std::vector<std::pair<node*, tensor>> variables; ///< with their values
  std::vector<std::pair<node*, ops::table_content>> tables;
};

/// Builds the node again. Inputs in `constant` stay known to shape functions, the others become
/// placeholders, of unknown shape unless `shapes_known`.
result<rebuilt> rebuild(const registry& ops, const op_sample& sample, bool shapes_known,
                        const std::vector<bool>& constant = {});

/// Runs the node and returns all outputs.
result<std::vector<tensor>> run(rebuilt& built, device& target_device);

/// The same sample with another type of the attribute, and of the inputs that it types.
op_sample with_type(const op_sample& sample, std::string_view type_attr, dtype type);

/// Converts by way of double; booleans and text from and to numbers as C++ prints them.
tensor converted(const tensor& from, dtype type);

/// The attribute that types each input: empty for a fixed type.
std::vector<std::string> type_attrs_of_inputs(const op_sample& sample);

} // namespace troupe::test
