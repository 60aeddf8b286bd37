// Shared by the kernels of long short-term memory, on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The quarters of a row of gates: the input gate, the new value of the cell, the forget gate, the
/// output gate.
struct gate_order {
  int i, ci, f, o;
};
inline constexpr gate_order icfo{0, 1, 2, 3}, ifco{0, 2, 1, 3};

/// The attributes of an LSTM op.
struct lstm_options {
  gate_order order = icfo;
  bool use_peephole = false;
  float forget_bias = 0;
  float cell_clip = 0; ///< cells are clipped to +- this value; 0 or less: no clipping
};

/// A single step has no time axis; a sequence has one, and its number of steps is the op's first
/// input.
enum class lstm_span : uint8_t { step, sequence };

template <gate_order Order>
result<std::shared_ptr<void>> prepare_lstm(const kernel_setup& setup) {
  const auto& lstm_node = setup.origin;
  auto real = [&](std::string_view name) {
    return lstm_node.op().find_attr(name) ? static_cast<float>(lstm_node.attr<double>(name)) : 0.f;
  };
  return std::shared_ptr<void>{std::make_shared<lstm_options>(
      lstm_options{.order = Order,
                   .use_peephole = lstm_node.attr<bool>("use_peephole"),
                   .forget_bias = real("forget_bias"),
                   .cell_clip = real("cell_clip")})};
}

/// The extents of a layer, and its inputs except the sequence itself.
struct lstm_extents {
  int64_t steps, active, batch, inputs, cells; // steps from `active` on are not computed
  int64_t rows() const { return active * batch; }
};

/// Fails where the inputs do not match.
result<lstm_extents> check_lstm(kernel_context& at, bool use_peephole, lstm_span span);

/// The shape of each step's outputs, or of all steps together.
result<shape> lstm_output_shape(const lstm_extents& extents, lstm_span span);

/// The inputs of a cell's gates except those from the cell itself, or their gradients.
template <class C>
struct lstm_gates {
  C i, ci, f, o;
};
template <class C>
struct lstm_peepholes {
  C i, f, o;
};
/// The values of a cell that a step stores for the next step and for the gradient.
template <class C>
struct lstm_cell {
  C i, cs, f, o, ci, co, h;
};
/// The gradients that a step returns.
template <class C>
struct lstm_slopes {
  lstm_gates<C> gates;
  C cs_prev;
};

/// Computes a step of a cell; Math provides the functions of gates.
template <class Math, class C>
constexpr __attribute__((always_inline)) lstm_cell<C>
lstm_step(const lstm_gates<C>& to, C previous, const lstm_peepholes<C>& weights, C clip) {
  C i = Math::squashed(to.i + previous * weights.i);
  C f = Math::squashed(to.f + previous * weights.f);
  C ci = Math::tangent_of(to.ci);
  C cs = ci * i + previous * f;
  cs = cs > clip ? clip : cs;
  cs = cs < -clip ? -clip : cs;
  C o = Math::squashed(to.o + cs * weights.o);
  C co = Math::tangent_of(cs);
  return {i, cs, f, o, ci, co, co * o};
}

/// Computes the gradients of a step from the gradients of the cell and of its output.
template <class C>
constexpr __attribute__((always_inline)) lstm_slopes<C>
lstm_step_back(const lstm_cell<C>& cell, C previous, const lstm_peepholes<C>& weights, C cs_grad,
               C h) {
  C to_o = h * cell.co * cell.o * (C{1} - cell.o);
  C cs = cs_grad + h * cell.o * (C{1} - cell.co * cell.co) + to_o * weights.o;
  C to_i = cs * cell.ci * cell.i * (C{1} - cell.i), to_f = cs * previous * cell.f * (C{1} - cell.f);
  return {{to_i, cs * cell.i * (C{1} - cell.ci * cell.ci), to_f, to_o},
          cs * cell.f + to_i * weights.i + to_f * weights.f};
}

} // namespace troupe::ops
