// What the definitions of recurrent cells share: the shapes of LSTMs, and gradients of products.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline constexpr dtype_set recurrent_types{dtype::f16, dtype::f32, dtype::f64};

inline constexpr port_list lstm_outputs{{"i", "T"},  {"cs", "T"}, {"f", "T"}, {"o", "T"},
                                        {"ci", "T"}, {"co", "T"}, {"h", "T"}};

/// The steps, rows and cells of an LSTM, as far as they are known; a single step has no axis for
/// it.
struct lstm_shape {
  std::vector<int64_t> steps;
  int64_t batch, cells;

  partial_shape state() const { return {batch, cells}; }
  /// What each output looks like; `per_cell` numbers for each cell.
  partial_shape outputs(int64_t per_cell = 1) const {
    auto dims = steps;
    dims.push_back(batch);
    dims.push_back(cells == unknown_extent ? cells : per_cell * cells);
    return partial_shape{std::move(dims)};
  }
};

/// Joins what x, cs_prev, h_prev and w say, which begin at input `first`: 0 of a single step, 1 of
/// a sequence.
result<lstm_shape> join_lstm(const infer_context& at, int first);

/// Shape functions of the ops themselves.
template <int First>
result<shapes> infer_lstm(const infer_context& at) {
  TROUPE_ASSIGN(auto joined, join_lstm(at, First));
  return shapes(7, joined.outputs());
}

/// Refuses to differentiate outputs that are there for the gradient alone.
status only_outputs(const gradient_context& at, std::initializer_list<int> differentiable);

/// The gradients of a, b and w, where a product of [a, b] and w has this one.
std::array<edge, 3> joint_product_gradients(edge a, edge b, edge w, edge product_gradient);
/// The same where the gradients of a and b are known already.
edge joint_weights_gradient(edge a, edge b, edge product_gradient);

/// The gradients of a sequence are what `op` computes.
edges sequence_gradient(gradient_context& at, std::string op);
result<shapes> infer_sequence_gradient(const infer_context& at);

/// Complete the forms of ops on sequences.
constexpr op_def lstm_sequence(op_def own) {
  own.inputs = {on_host("seq_len_max", "i64"),
                {"x", "T"},
                {"cs_prev", "T"},
                {"h_prev", "T"},
                {"w", "T"},
                {"wci", "T"},
                {"wcf", "T"},
                {"wco", "T"},
                {"b", "T"}};
  own.outputs = lstm_outputs;
  own.infer = infer_lstm<1>;
  return own;
}
constexpr op_def lstm_sequence_gradient(op_def own) {
  own.inputs = {on_host("seq_len_max", "i64"),
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
  own.outputs = {{"x_grad", "T"},   {"cs_prev_grad", "T"}, {"h_prev_grad", "T"}, {"w_grad", "T"},
                 {"wci_grad", "T"}, {"wcf_grad", "T"},     {"wco_grad", "T"},    {"b_grad", "T"}};
  own.attrs = {{"use_peephole", attr_kind::boolean}, {"T", recurrent_types}};
  own.infer = infer_sequence_gradient;
  own.no_gradient = "second derivatives of LSTMs are not defined";
  return own;
}

inline constexpr dtype_set gru_types{dtype::f32, dtype::f64};

inline constexpr port_list gru_inputs{{"x", "T"},   {"h_prev", "T"}, {"w_ru", "T"},
                                      {"w_c", "T"}, {"b_ru", "T"},   {"b_c", "T"}};

/// What a gated recurrent unit's state looks like, as far as its inputs tell.
result<partial_shape> gru_state(const infer_context& at);

template <size_t Outputs>
result<shapes> infer_gru(const infer_context& at) {
  TROUPE_ASSIGN(auto state, gru_state(at));
  return shapes(Outputs, state);
}

} // namespace troupe::ops
