// Samples of an op at work, taken from the example in its definition and varied in type and value.
#pragma once
#include "tests/support/evaluate.hpp"
#include "troupe/ops/lookup/shared/lookup_table.hpp"

#include <string>
#include <vector>

namespace troupe::test {

/// A table that a node used, and what it held then.
struct table_sample {
  std::string op; ///< that stands for it
  attr_map attrs = {};
  ops::table_content pairs = {}; ///< empty while uninitialised
};

/// A node of an example, with the inputs that it had in a run.
struct op_sample {
  const op_def* op = nullptr;
  attr_map attrs = {};             ///< those that the inputs do not tell
  std::vector<tensor> inputs = {}; ///< of refs the variable's value; empty while uninitialised
  std::map<size_t, table_sample> tables = {}; ///< by input
};

/// What running an example showed.
struct example_run {
  std::vector<op_sample> samples; ///< one for each run of a node of the op
  std::vector<std::string> device_errors;
};

enum class placeholders { as_written, as_fed, unknown };

/// Runs the op's example. Placeholders get the shape that they are fed, or none at all, on demand.
/// With `as_fed`, complains about nodes of the op whose shape is not inferred in full as well.
example_run run_example(const registry& ops, const op_def& op, device& on, placeholders shapes);

/// Runs a text graph and says what did not come out as it promises.
std::vector<std::string> complaints_about(const registry& ops, std::string_view text, device& on);

/// Says whether the example needs more than kernels: queues, control flow.
bool needs_runtime(const registry& ops, const op_def& op);

/// How a sample is put into a graph.
struct rebuilt {
  std::unique_ptr<graph> in;
  node* at = nullptr;
  std::vector<evaluator::feed> feeds;
  std::vector<std::pair<node*, tensor>> variables; ///< and their values
  std::vector<std::pair<node*, ops::table_content>> tables;
};

/// Builds the node anew. Inputs that are `constant` stay known to shape functions, the others
/// become placeholders, of unknown shape unless `shapes_known`.
result<rebuilt> rebuild(const registry& ops, const op_sample& of, bool shapes_known,
                        const std::vector<bool>& constant = {});

/// Runs it and returns all outputs.
result<std::vector<tensor>> run(rebuilt& what, device& on);

/// The same sample with the attribute, and the inputs that it types, of another type.
op_sample with_type(const op_sample& of, std::string_view type_attr, dtype type);

/// Converts by way of double; truth values and text from and to numbers as C++ would print them.
tensor converted(const tensor& from, dtype type);

/// Which attribute types each input: empty for a fixed type.
std::vector<std::string> type_attrs_of_inputs(const op_sample& of);

} // namespace troupe::test
