// The optimizers. Rates and other numbers may be edges to scalars, to change over time
// (api/train/optimizers/learning_rate.hpp).
//
// For a sparse gradient (api/train/optimizers/indexed_slices.hpp) all of them except adam compute
// and change only its rows, of the variable and of its slots. The slots of other rows do not decay,
// and these rows do not move, as in TensorFlow.
#pragma once
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

#include <array>

namespace troupe {

/// w -= rate * gradient.
class TROUPE_API gradient_descent final : public optimizer {
public:
  explicit gradient_descent(operand rate) : rate_(std::move(rate)) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
};

struct momentum_options {
  bool nesterov = false; ///< Nesterov momentum
};
/// m = decay * m + gradient; w -= rate * m. Slot: "momentum", which is m.
class TROUPE_API momentum final : public optimizer {
public:
  explicit momentum(operand rate, operand decay = 0.9, momentum_options options = {})
      : rate_(std::move(rate)), decay_(std::move(decay)), options_(options) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_, decay_;
  momentum_options options_;
};

/// Smaller rates where gradients were large (Duchi et al. 2011): a += gradient^2; w -= rate *
/// gradient / sqrt(a). Slot: "accumulator".
class TROUPE_API adagrad final : public optimizer {
public:
  explicit adagrad(operand rate, double initial_accumulator = 0.1)
      : rate_(std::move(rate)), initial_(initial_accumulator) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
  double initial_;
};

struct proximal_options {
  operand l1 = 0.0, l2 = 0.0; ///< strengths of the l1 and l2 regularization
  double initial_accumulator = 0.1;
};
/// Adagrad with l1 and l2 regularization by forward-backward splitting (Duchi and Singer 2009).
/// Slot: "accumulator".
class TROUPE_API proximal_adagrad final : public optimizer {
public:
  explicit proximal_adagrad(operand rate, proximal_options options = {})
      : rate_(std::move(rate)), options_(std::move(options)) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
  proximal_options options_;
};

struct adadelta_options {
  operand rho = 0.95, epsilon = 1e-6;
};
/// Derives its rates from past gradients and past updates (Zeiler 2012). Slots: "accumulator",
/// "accumulated_update".
class TROUPE_API adadelta final : public optimizer {
public:
  explicit adadelta(operand rate = 1.0, adadelta_options options = {})
      : rate_(std::move(rate)), options_(std::move(options)) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
  adadelta_options options_;
};

struct rmsprop_options {
  operand decay = 0.9, momentum = 0.0, epsilon = 1e-10;
  bool centered = false; ///< divides by the deviation instead of the mean square
};
/// Divides by a decaying mean of squared gradients (Tieleman and Hinton 2012). Slots:
/// "mean_square", "momentum", and "mean" when centered.
class TROUPE_API rmsprop final : public optimizer {
public:
  explicit rmsprop(operand rate, rmsprop_options options = {})
      : rate_(std::move(rate)), options_(std::move(options)) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
  rmsprop_options options_;
};

struct adam_options {
  operand beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool nesterov = false;
};
/// Derives its rates from estimates of the gradient's first two moments (Kingma and Ba 2015). A
/// step decays the moments of all rows and moves all rows, even if the gradient is sparse: the
/// estimates depend on the number of steps, and would be wrong for rows with fewer; as in
/// TensorFlow. Slots: "mean", "mean_square"; and two scalars for all variables of a type.
class TROUPE_API adam final : public optimizer {
public:
  explicit adam(operand rate = 0.001, adam_options options = {})
      : rate_(std::move(rate)), options_(std::move(options)) {}

private:
  struct power {
    variable_handle variable; // beta to the power of the number of completed steps
    edge next;                // including this step
  };
  using powers = std::array<power, 2>;
  node* update(const variable_gradient& entry, location where) override;
  std::vector<node*> after_updates(graph& in, location where) override;
  const powers& powers_for(const variable_gradient& entry, location where);

  operand rate_;
  adam_options options_;
  std::map<std::pair<uint64_t, dtype>, powers> powers_; // by the id of their graph
};

struct ftrl_options {
  operand l1 = 0.0, l2 = 0.0, power = -0.5;
  double initial_accumulator = 0.1;
};
/// Follow the regularized leader (McMahan et al. 2013): sparse models with l1. Slots:
/// "accumulator", "linear".
class TROUPE_API ftrl final : public optimizer {
public:
  explicit ftrl(operand rate, ftrl_options options = {})
      : rate_(std::move(rate)), options_(std::move(options)) {}

private:
  node* update(const variable_gradient& entry, location where) override;
  operand rate_;
  ftrl_options options_;
};

} // namespace troupe
