// The base class of optimizers: computes gradients of a loss, and adds the nodes that update
// variables.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <map>
#include <tuple>

namespace troupe {

struct variable_gradient {
  edge variable; ///< a ref
  edge gradient;
};

/// Each optimizer (api/train/optimizers/optimizers.hpp) defines how one variable follows its
/// gradient. It keeps its state for a variable in further variables, its *slots*. A slot is on the
/// device of the variable, is initialized like it, and is called "<variable>/<slot>". Two losses
/// that one optimizer minimizes share the slots of their variables.
class TROUPE_API optimizer {
public:
  using location = std::source_location;

  virtual ~optimizer() = default;

  /// Returns the node that takes one step for all floating variables that the loss depends on, or
  /// for those given. Throws if there are none, or if the loss does not depend on one of those
  /// given.
  node* minimize(edge loss, const std::vector<edge>& variables = {},
                 location where = location::current());

  /// The first half of minimize(), for callers that change gradients before applying them.
  static std::vector<variable_gradient> compute_gradients(edge loss,
                                                          const std::vector<edge>& variables = {},
                                                          location where = location::current());

  /// Computes gradients with options, such as weights of the loss or values to recompute.
  static std::vector<variable_gradient> compute_gradients(edge loss,
                                                          const std::vector<edge>& variables,
                                                          const gradient_options& options,
                                                          location where = location::current());

  /// The second half of minimize(): returns the node that applies all gradients.
  node* apply_gradients(const std::vector<variable_gradient>& gradients,
                        location where = location::current());

  /// Applies gradients only if `condition`, a boolean scalar, is true. Otherwise the variables and
  /// all slots stay unchanged. Copies each of them in each step.
  node* apply_gradients_if(edge condition, const std::vector<variable_gradient>& gradients,
                           location where = location::current());

  /// Returns a slot of a variable, such as "momentum". Throws if there is no such slot, and lists
  /// the existing ones.
  variable_handle slot(edge variable, std::string_view name,
                       location where = location::current()) const;

protected:
  optimizer() = default;

  /// Returns the node that updates the variable. New nodes are placed on the device of the
  /// variable.
  virtual node* update(const variable_gradient& entry, location where) = 0;
  /// Returns nodes that run once in each step, after all updates.
  virtual std::vector<node*> after_updates(graph&, location) { return {}; }

  /// Returns the slot of this name, with the variable's type and shape. The first call creates it,
  /// with all elements equal to `initial`.
  variable_handle make_slot(edge variable, std::string_view name, double initial, location where);
  /// Returns a scalar that all variables of this type and graph share. The first call creates it.
  variable_handle make_shared(edge variable, std::string_view name, double initial, location where);

private:
  node* apply(edge condition, const std::vector<variable_gradient>& gradients, location where);
  std::vector<edge> state_of(edge variable) const; // the variable and its slots

  using variable_key = std::pair<uint64_t, int>; // ids of the graph and of the node
  static variable_key key_of(edge variable);

  std::map<std::pair<variable_key, std::string>, variable_handle> slots_;
  std::map<std::tuple<uint64_t, dtype, std::string>, variable_handle> shared_;
};

} // namespace troupe
