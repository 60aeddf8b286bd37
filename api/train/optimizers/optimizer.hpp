// What all optimizers are: gradients of a loss, and the nodes that make variables follow them.
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

/// Each kind (api/train/optimizers/optimizers.hpp) says how one variable follows its gradient, and
/// keeps what it remembers of a variable in further variables, its *slots*, which live where the
/// variable does, are initialized like it, and are called "<variable>/<slot>". Two losses that one
/// optimizer minimizes share the slots of their variables.
class TROUPE_API optimizer {
public:
  using location = std::source_location;

  virtual ~optimizer() = default;

  /// Returns the node that takes one step for all floating variables that the loss depends on, or
  /// for those given. Throws when there are none, or when the loss does not depend on one of those
  /// given.
  node* minimize(edge loss, const std::vector<edge>& variables = {},
                 location where = location::current());

  /// The first half of minimize(), for those who change gradients before applying them.
  static std::vector<variable_gradient> compute_gradients(edge loss,
                                                          const std::vector<edge>& variables = {},
                                                          location where = location::current());

  /// The same with options, such as weights of the loss or parts to compute again.
  static std::vector<variable_gradient> compute_gradients(edge loss,
                                                          const std::vector<edge>& variables,
                                                          const gradient_options& options,
                                                          location where = location::current());

  /// The second half: returns the node that applies all of them.
  node* apply_gradients(const std::vector<variable_gradient>& gradients,
                        location where = location::current());

  /// The same, but in steps where `condition`, a scalar of truth, is false, the variables and all
  /// that the optimizer remembers stay as they were. Each of them is copied in each step for it.
  node* apply_gradients_if(edge condition, const std::vector<variable_gradient>& gradients,
                           location where = location::current());

  /// What it remembers of a variable, such as "momentum". Throws, and lists the slots that there
  /// are, where there is no such slot.
  variable_handle slot(edge variable, std::string_view name,
                       location where = location::current()) const;

protected:
  optimizer() = default;

  /// Returns the node that changes the variable. New nodes go where the variable is.
  virtual node* update(const variable_gradient& of, location where) = 0;
  /// Nodes that run once in each step, after all updates.
  virtual std::vector<node*> after_updates(graph&, location) { return {}; }

  /// The slot of that name, of the variable's type and shape; made when first asked for, and then
  /// all of its elements begin with one value.
  variable_handle make_slot(edge variable, std::string_view name, double initial, location where);
  /// A scalar for all variables of this one's type and graph; likewise.
  variable_handle make_shared(edge variable, std::string_view name, double initial, location where);

private:
  node* apply(edge condition, const std::vector<variable_gradient>& gradients, location where);
  std::vector<edge> remembered_of(edge variable) const; // itself and its slots

  using variable_key = std::pair<uint64_t, int>; // of its graph, of its node
  static variable_key key_of(edge variable);

  std::map<std::pair<variable_key, std::string>, variable_handle> slots_;
  std::map<std::tuple<uint64_t, dtype, std::string>, variable_handle> shared_;
};

} // namespace troupe
