// Gradients of nodes that run functions. The function is split into two: the forward function also
// returns the values that the gradient needs, and the backward function computes the gradient.
#pragma once
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/function.hpp"

namespace troupe {

class function_gradients;

/// Implements gradients(): adds nodes to `target`, or to the function that is being built within
/// it. The weights, one for each y, may be edges of that function. `reached`, if set, returns the
/// node to differentiate in place of a node.
result<std::vector<edge>> differentiate(graph& target, const std::vector<edge>& ys,
                                        const std::vector<edge>& xs,
                                        const gradient_options& options,
                                        function_gradients& functions,
                                        const std::function<result<node*>(node&)>& reached = {});

/// The state of one call of gradients() that concerns functions.
class function_gradients {
public:
  function_gradients(decltype(gradient_options::of_ops) of_ops, std::string name)
      : of_ops_(std::move(of_ops)), name_(std::move(name)) {}

  /// A name that is unique in this process. Ops that keep gradients in state of a step distinguish
  /// calls of gradients() by it.
  const std::string& name() const noexcept { return name_; }

  /// The user's gradients of ops, which also apply within functions.
  const decltype(gradient_options::of_ops)& of_ops() const noexcept { return of_ops_; }

  /// An input of a backward function: an argument of the original function, or a saved value.
  struct need {
    bool is_argument;
    size_t index;
  };
  /// The two functions. The backward function takes the gradients of results, then its needs.
  struct forward_backward {
    function_copy forward;
    std::shared_ptr<const function> backward;
    std::vector<edge> saved; // edges of the forward function
    std::vector<need> needs;
  };

  /// Splits a function for the gradients of the results in `result_indices` with respect to the
  /// arguments in `argument_indices`. `stays` returns whether the backward function can take an
  /// argument without saving it. With `recomputes`, only values that cannot be recomputed from
  /// arguments and saved values are saved.
  result<forward_backward> split_forward_backward(const function& source,
                                                  const std::vector<size_t>& result_indices,
                                                  const std::vector<size_t>& argument_indices,
                                                  const std::function<bool(size_t)>& stays,
                                                  bool recomputes = false);

  /// A call whose functions have been split.
  struct split_call {
    function_value forward; // returns the results, then the saved values
    function_value backward;
    std::vector<need> needs;
  };
  using key = std::tuple<const function*, std::vector<size_t>, std::vector<size_t>>;
  std::map<key, split_call> calls;

  /// A function that calls itself, while its gradient is being built.
  struct recursive {
    std::string forward, backward;          // the names of the two functions
    std::vector<size_t> results, arguments; // the indices of those with gradients
  };
  std::map<std::string, recursive> in_progress;

private:
  const decltype(gradient_options::of_ops) of_ops_;
  const std::string name_;
};

/// For op_def::gradient.
edges gradient_of_call(gradient_context& at);
edges gradient_of_branches(gradient_context& at);
edges gradient_of_loop(gradient_context& at);

} // namespace troupe
