// Writes the code of a fused loop.
#pragma once
#include "troupe/runtime/graph/fused_stages.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/program/fused_loop.hpp"

#include <map>
#include <optional>
#include <set>

namespace troupe {

class fused_loop_writer {
public:
  std::shared_ptr<const fused_loop> write(const function& condition, const function& body,
                                          std::span<const tensor> initial);

private:
  using opcode = fused_loop::opcode;
  using instruction = fused_loop::instruction;

  // Where a value is stored. A value of unknown type or shape has no elements, and no code may read
  // it.
  struct cell {
    uint32_t offset = 0;
    dtype type = dtype::none;
    shape dims = {};
    bool constant = false;
    int64_t elements() const { return type == dtype::none ? 0 : dims.elements(); }
    uint32_t bytes() const { return static_cast<uint32_t>(elements()) * size(); }
    uint32_t size() const { return static_cast<uint32_t>(size_of(type)); }
    bool is(const cell& other) const {
      return elements() > 0 && other.elements() > 0 && offset == other.offset;
    }
  };
  using cells = std::vector<cell>;
  // The values of one run of a function.
  using node_values = std::map<std::pair<const node*, int>, cell>;

  static std::vector<bool> read_arguments(const function& called);
  // These functions return nothing, or false, for nodes and values that cannot be fused.
  std::optional<cell> make_cell(dtype type, const shape& dims);
  std::optional<cell> constant(const node& source);
  std::optional<cells> run_function(const function& called, const cells& arguments);
  bool write_node(const node& written, node_values& values, cells& results);
  std::optional<cell> compute(const op_def& op, const typed_kernel* entry, inner_loop_fn run,
                              dtype type, const cells& inputs);
  std::optional<cell> compute(const node& computed, const cells& inputs);
  std::optional<cell> write_stages(const node& fused, const cells& inputs);
  static bool has_required_shapes(const node& call, const function& called, const cells& inputs);
  std::optional<cells> write_call(const node& call, const cells& inputs);
  std::optional<cells> write_choice(const node& call, const cells& inputs);
  std::optional<cells> write_loop(const function& condition, const function& body,
                                  const cells& initial, bool outermost);
  bool assign_variables(const cells& results, cells& variables, size_t body_begin, bool outermost);
  bool compute_in_place(const cell& result, const cell& variable, size_t body_begin) const;

  instruction& add(opcode kind);
  void copy(const cell& from, const cell& to);
  uint32_t position() const { return static_cast<uint32_t>(loop_->code_.size()); }

  std::shared_ptr<fused_loop> loop_;
  std::set<uint32_t> read_; // offsets
  bool may_fail_ = false;
  double nanoseconds_ = 0; // of the arithmetic so far, with each instruction counted once
  size_t visited_ = 0;     // nodes
};

} // namespace troupe
