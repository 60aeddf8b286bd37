// Recurrent layers. Sequences are [time, batch, inputs]; their length is known, and the loop over
// time is unrolled, in one kernel for LSTM and in the graph for the others.
#pragma once
#include "troupe/api/layers/initializers.hpp"
#include "troupe/runtime/export.hpp"

namespace troupe {

/// The state between two steps of an LSTM.
struct lstm_state {
  edge cells;  ///< [batch, units]
  edge output; ///< [batch, units]
};

struct lstm_options {
  double forget_bias = 1; ///< keeps gradients from vanishing at first (Jozefowicz et al. 2015)
  double cell_clip = 0;   ///< if positive, clips cells to [-cell_clip, cell_clip]
  bool peephole = false;
  initializer weights = initializers::glorot_uniform();
  std::string name = "lstm";
};

/// Long short-term memory (Hochreiter and Schmidhuber 1997).
class TROUPE_API lstm_layer {
public:
  using location = std::source_location;

  lstm_layer(graph_builder& in, int64_t inputs, int64_t units, lstm_options options = {},
             dtype type = dtype::f32, location where = location::current());

  struct sequence {
    edge outputs; ///< [time, batch, units]
    lstm_state last;
  };
  /// Runs over a whole sequence, from a given state or from zeros.
  sequence operator()(edge x, const lstm_state& initial_state = {},
                      location where = location::current()) const;
  /// Runs one step, for x [batch, inputs].
  lstm_state step(edge x, const lstm_state& state, location where = location::current()) const;
  /// Returns a state of zeros with as many rows as `x` [batch, ...].
  lstm_state zeros(edge x, location where = location::current()) const;

  variable_handle weights; ///< [inputs + units, 4 * units]: input, cell, forget and output gates
  variable_handle biases;  ///< [4 * units]

private:
  edge peephole(size_t gate) const { return peepholes_[gate]; }
  int64_t units_;
  lstm_options options_;
  std::vector<edge> peepholes_; // of the input, forget and output gates: variables, or zeros
};

struct gru_options {
  initializer weights = initializers::glorot_uniform();
  std::string name = "gru";
};

/// The gated recurrent unit (Cho et al. 2014).
class TROUPE_API gru_layer {
public:
  using location = std::source_location;

  gru_layer(graph_builder& in, int64_t inputs, int64_t units, gru_options options = {},
            dtype type = dtype::f32, location where = location::current());

  /// Runs over a whole sequence of known length. The outputs are [time, batch, units].
  edge operator()(edge x, edge initial_state = {}, location where = location::current()) const;
  /// Runs one step, for x [batch, inputs]: returns the next state, which is also the output.
  edge step(edge x, edge state, location where = location::current()) const;
  edge zeros(edge x, location where = location::current()) const;

  variable_handle gate_weights, gate_biases;           ///< [inputs + units, 2 * units], [2 * units]
  variable_handle candidate_weights, candidate_biases; ///< [inputs + units, units], [units]

private:
  int64_t units_;
};

} // namespace troupe
