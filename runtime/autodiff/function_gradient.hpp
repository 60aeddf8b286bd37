// Gradients of nodes that run functions. A function whose gradient is taken becomes two: one that
// saves what the way back needs beside its results, and one that goes back.
#pragma once
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/function.hpp"

namespace troupe {

class function_gradients;

/// The work of gradients(): adds nodes to `in`, or to the function that is being built within it.
/// The weights, of which there is one for each y, may be edges of that function. `reached` says of
/// a node what its gradient is to be taken of.
result<std::vector<edge>> differentiate(graph& in, const std::vector<edge>& ys,
                                        const std::vector<edge>& xs,
                                        const gradient_options& options,
                                        function_gradients& functions,
                                        const std::function<result<node*>(node&)>& reached = {});

/// What all gradients that are taken at once know of functions.
class function_gradients {
public:
  function_gradients(decltype(gradient_options::of_ops) of_ops, std::string name)
      : of_ops_(std::move(of_ops)), name_(std::move(name)) {}

  /// No other gradients in this process have it: ops that keep gradients in state of a step tell
  /// them apart by it.
  const std::string& name() const noexcept { return name_; }

  /// Given for ops, in functions as outside.
  const decltype(gradient_options::of_ops)& of_ops() const noexcept { return of_ops_; }

  /// What the way back of a function needs: an argument of the function, or what it saves.
  struct need {
    bool is_argument;
    size_t index;
  };
  /// A function on its way to save things, and the one that goes back, which takes the gradients of
  /// results and then what it needs.
  struct two_ways {
    open_function forward;
    std::shared_ptr<const function> backward;
    std::vector<edge> saved; // of forward
    std::vector<need> needs;
  };

  /// The gradients of `of`: of its results `from`, with respect to its arguments `to`. `stays` says
  /// of an argument whether the way back can take it as it is. Where it `recomputes`, it saves only
  /// what it cannot compute again of arguments and of what else it saves.
  result<two_ways> both_ways(const function& of, const std::vector<size_t>& from,
                             const std::vector<size_t>& to,
                             const std::function<bool(size_t)>& stays, bool recomputes = false);

  /// A call whose two ways are ready.
  struct ready_call {
    function_value forward; // its results, then what it saves
    function_value backward;
    std::vector<need> needs;
  };
  using key = std::tuple<const function*, std::vector<size_t>, std::vector<size_t>>;
  std::map<key, ready_call> calls;

  /// A function that calls itself, while its gradient is on its way.
  struct recursive {
    std::string forward, backward; // their names
    std::vector<size_t> from, to;
  };
  std::map<std::string, recursive> on_their_way;

private:
  const decltype(gradient_options::of_ops) of_ops_;
  const std::string name_;
};

/// For op_def::gradient.
edges gradient_of_call(gradient_context& at);
edges gradient_of_branches(gradient_context& at);
edges gradient_of_loop(gradient_context& at);

} // namespace troupe
