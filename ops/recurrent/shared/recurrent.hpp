// Shared by the definitions of recurrent cells: the shapes of LSTMs, and gradients of products.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr dtype_set recurrent_types{dtype::f16, dtype::f32, dtype::f64};

inline constexpr port_list lstm_outputs{{"i", "T"},  {"cs", "T"}, {"f", "T"}, {"o", "T"},
                                        {"ci", "T"}, {"co", "T"}, {"h", "T"}};

/// The steps, rows and cells of an LSTM, as far as they are known; a single step has no time axis.
struct lstm_shape {
  std::vector<int64_t> steps;
  int64_t batch, cells;

  partial_shape state() const { return {batch, cells}; }
  /// The shape of each output, with `per_cell` numbers per cell.
  partial_shape outputs(int64_t per_cell = 1) const {
    auto dims = steps;
    dims.push_back(batch);
    dims.push_back(cells == unknown_extent ? cells : per_cell * cells);
    return partial_shape{std::move(dims)};
  }
};

/// Merges the shapes of x, cs_prev, h_prev and w, which start at input `first`: 0 for a single
/// step, 1 for a sequence.
result<lstm_shape> join_lstm(const infer_context& at, int first);

/// Shape functions of the ops themselves.
template <int First>
result<shapes> infer_lstm(const infer_context& at) {
  TROUPE_ASSIGN(auto joined, join_lstm(at, First));
  return shapes(7, joined.outputs());
}

/// Fails where an output that exists only for the gradient is to be differentiated.
status only_outputs(const gradient_context& at, std::initializer_list<int> differentiable);

/// The gradients of a, b and w, given the gradient of the product of [a, b] and w.
std::array<edge, 3> joint_product_gradients(edge a, edge b, edge w, edge product_gradient);
/// The same where the gradients of a and b are already known.
edge joint_weights_gradient(edge a, edge b, edge product_gradient);

/// The gradients of a sequence, which the op `op` computes.
edges sequence_gradient(gradient_context& at, std::string op);
result<shapes> infer_sequence_gradient(const infer_context& at);

/// Complete the forms of ops on sequences.
constexpr op_def lstm_sequence(op_def def) {
  def.inputs = {on_host("seq_len_max", "i64"),
                {"x", "T"},
                {"cs_prev", "T"},
                {"h_prev", "T"},
                {"w", "T"},
                {"wci", "T"},
                {"wcf", "T"},
                {"wco", "T"},
                {"b", "T"}};
  def.outputs = lstm_outputs;
  def.infer = infer_lstm<1>;
  return def;
}
constexpr op_def lstm_sequence_gradient(op_def def) {
  def.inputs = {on_host("seq_len_max", "i64"),
                {"x", "T"},
                {"cs_prev", "T"},
                {"h_prev", "T"},
                {"w", "T"},
                {"wci", "T"},
                {"wcf", "T"},
                {"wco", "T"},
                {"b", "T"},
                {"i", "T"},
                {"cs", "T"},
                {"f", "T"},
                {"o", "T"},
                {"ci", "T"},
                {"co", "T"},
                {"h", "T"},
                {"cs_grad", "T"},
                {"h_grad", "T"}};
  def.outputs = {{"x_grad", "T"},   {"cs_prev_grad", "T"}, {"h_prev_grad", "T"}, {"w_grad", "T"},
                 {"wci_grad", "T"}, {"wcf_grad", "T"},     {"wco_grad", "T"},    {"b_grad", "T"}};
  def.attrs = {{"use_peephole", attr_kind::boolean}, {"T", recurrent_types}};
  def.infer = infer_sequence_gradient;
  def.no_gradient = "second derivatives of LSTMs are not defined";
  return def;
}

inline constexpr dtype_set gru_types{dtype::f32, dtype::f64};

inline constexpr port_list gru_inputs{{"x", "T"},   {"h_prev", "T"}, {"w_ru", "T"},
                                      {"w_c", "T"}, {"b_ru", "T"},   {"b_c", "T"}};

/// The shape of a gated recurrent unit's state, as far as its inputs determine it.
result<partial_shape> gru_state(const infer_context& at);

template <size_t Outputs>
result<shapes> infer_gru(const infer_context& at) {
  TROUPE_ASSIGN(auto state, gru_state(at));
  return shapes(Outputs, state);
}

} // namespace troupe::ops
