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

  // Where a value lies. One that no code may read, because it is not known well enough, has no
  // elements.
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
  using found = std::map<std::pair<const node*, int>, cell>; // the values of one function's run

  static std::vector<bool> read_arguments(const function& of);
  // All of these return nothing, or false, for what cannot be part of the code.
  std::optional<cell> make_cell(dtype type, const shape& dims);
  std::optional<cell> constant(const node& from);
  std::optional<cells> run_function(const function& of, const cells& arguments);
  bool write_node(const node& one, found& values, cells& results);
  std::optional<cell> compute(const op_def& op, const typed_kernel* entry, inner_loop_fn run,
                              dtype type, const cells& from);
  std::optional<cell> compute(const node& one, const cells& from);
  std::optional<cell> write_stages(const node& fused, const cells& from);
  static bool keeps_promises(const node& call, const function& called, const cells& from);
  std::optional<cells> write_call(const node& one, const cells& from);
  std::optional<cells> write_choice(const node& one, const cells& from);
  std::optional<cells> write_loop(const function& condition, const function& body,
                                  const cells& initial, bool outermost);
  bool hand_on(const cells& results, cells& variables, size_t body_begin, bool outermost);
  bool compute_in_place(const cell& result, const cell& variable, size_t body_begin) const;

  instruction& add(opcode what);
  void copy(const cell& from, const cell& to);
  uint32_t here() const { return static_cast<uint32_t>(made_->code_.size()); }

  std::shared_ptr<fused_loop> made_;
  std::set<uint32_t> read_; // offsets
  bool may_fail_ = false;
  double nanoseconds_ = 0; // of the arithmetic so far, each once
  size_t visited_ = 0;     // nodes
};

} // namespace troupe
