#include "troupe/api/layers/recurrent.hpp"
// Adds LSTM and GRU layers.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

namespace troupe {
namespace {

using location = std::source_location;

// Returns zeros [batch, units] for x [batch, ...].
edge zero_state(edge x, int64_t units, location where) {
  need_edge("zeros", where, x, "x");
  auto& in = x.node->graph();
  auto batch = slice(shape_of(x, {}, {}, where), {0}, {1}, {}, where);
  auto width = fill(in, {1}, static_cast<int32_t>(units), {}, where);
  auto zero = value_or_throw(convert_literal(tensor::scalar(0), x.type()));
  return fill(in, concatenate({batch, width}, 0, {}, where), zero, {}, where);
}

void check_sizes(const char* layer, int64_t inputs, int64_t units, const initializer& weights,
                 location where) {
  if (inputs < 0 || units < 1)
    reject(layer, where, "units must be at least 1, and inputs not negative, got ", units, " and ",
           inputs);
  need_function(layer, where, weights, "the initializer of the weights");
}

int64_t known_steps(edge x, const char* layer, location where) {
  if (x.is_empty() || x.dims().rank() != 3 || x.dims()[0] < 1)
    throw error{invalid(layer, " (", to_string(where),
                        "): a sequence is [time, batch, inputs] with a known time, got ",
                        x ? x.dims() : partial_shape{})};
  return x.dims()[0];
}

} // namespace

lstm_layer::lstm_layer(graph_builder& in, int64_t inputs, int64_t units, lstm_options options,
                       dtype type, location where)
    : units_(units), options_(std::move(options)) {
  check_sizes("lstm_layer", inputs, units, options_.weights, where);
  auto scope = in.scope(options_.name, where);
  weights =
      in.variable(options_.weights(in, {inputs + units, 4 * units}, type, where), "weights", where);
  auto zeros = initializers::zeros();
  biases = in.variable(zeros(in, {4 * units}, type, where), "biases", where);
  for (const char* gate : {"input", "forget", "output"}) {
    auto none = zeros(in, {units}, type, where);
    peepholes_.push_back(options_.peephole ? in.variable(none, concat("peephole_", gate), where)
                                           : none);
  }
}

lstm_state lstm_layer::zeros(edge x, location where) const {
  auto zero = zero_state(x, units_, where);
  return {zero, zero};
}

lstm_state lstm_layer::step(edge x, const lstm_state& state, location where) const {
  auto next = lstm_block_cell(x, state.cells, state.output, weights, peephole(0), peephole(1),
                              peephole(2), biases,
                              {.forget_bias = options_.forget_bias,
                               .cell_clip = options_.cell_clip,
                               .use_peephole = options_.peephole},
                              {}, where);
  return {next.cs, next.h};
}

lstm_layer::sequence lstm_layer::operator()(edge x, const lstm_state& initial_state,
                                            location where) const {
  auto steps = known_steps(x, "lstm_layer", where);
  auto start = initial_state;
  if (start.cells.is_empty())
    start = zeros(
        squeeze(slice(x, {0, 0, 0}, {1, -1, -1}, {}, where), {.squeeze_dims = {0}}, {}, where),
        where);
  auto run = block_lstm(steps, x, start.cells, start.output, weights, peephole(0), peephole(1),
                        peephole(2), biases,
                        {.forget_bias = options_.forget_bias,
                         .cell_clip = options_.cell_clip,
                         .use_peephole = options_.peephole},
                        {}, where);
  auto last_step = [&](edge sequence_values) {
    auto row =
        slice(sequence_values, {static_cast<int32_t>(steps - 1), 0, 0}, {1, -1, -1}, {}, where);
    return squeeze(row, {.squeeze_dims = {0}}, {}, where);
  };
  return {run.h, {last_step(run.cs), last_step(run.h)}};
}

gru_layer::gru_layer(graph_builder& in, int64_t inputs, int64_t units, gru_options options,
                     dtype type, location where)
    : units_(units) {
  check_sizes("gru_layer", inputs, units, options.weights, where);
  auto scope = in.scope(options.name, where);
  auto make = [&](const initializer& value, const shape& dims, std::string_view name) {
    return in.variable(value(in, dims, type, where), name, where);
  };
  auto joint = inputs + units;
  gate_weights = make(options.weights, {joint, 2 * units}, "gate_weights");
  gate_biases = make(initializers::ones(), {2 * units}, "gate_biases");
  candidate_weights = make(options.weights, {joint, units}, "candidate_weights");
  candidate_biases = make(initializers::zeros(), {units}, "candidate_biases");
}

edge gru_layer::zeros(edge x, location where) const { return zero_state(x, units_, where); }

edge gru_layer::step(edge x, edge state, location where) const {
  return gru_block_cell(x, state, gate_weights, candidate_weights, gate_biases, candidate_biases,
                        {}, where)
      .h;
}

edge gru_layer::operator()(edge x, edge initial_state, location where) const {
  auto steps = unpack(x, known_steps(x, "gru_layer", where), {}, {}, where);
  auto state = initial_state ? initial_state : zeros(steps.front(), where);
  std::vector<edge> outputs;
  for (const auto& input : steps)
    outputs.push_back(state = step(input, state, where));
  return pack(outputs, {}, {}, where);
}

} // namespace troupe
