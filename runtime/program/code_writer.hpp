// Writes the instructions of nodes: the common part of the writers of regions and of blocks.
#pragma once
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/program/block.hpp"
#include "troupe/runtime/program/program.hpp"

#include <deque>
#include <map>
#include <set>

namespace troupe {

/// An instruction whose operands are still offsets into the program's pools.
struct draft {
  instruction code;
  size_t inputs = 0, states = npos, types = 0, releases = 0;
  static constexpr size_t npos = SIZE_MAX;
};

/// The state that the writers of one program share.
struct program_writer {
  program& out;
  const state_finder& find_state;
  const kernel_state_finder& find_kernel_state;
  bool fuse_loops = true; ///< where possible (fused_loop.hpp)

  /// The states that are arguments of a function; nullptr for values.
  using state_list = std::vector<named_state*>;
  /// Returns the code of a function with these states as arguments; writes it at the first call.
  result<const block*> block_of(const std::shared_ptr<const function>& called,
                                const state_list& states);
  /// Returns the function. A function that is only named is one whose code is being written.
  result<std::shared_ptr<const function>> resolve(const function_value& called) const;
  /// Points the instructions of all blocks to their operands.
  void finish();

  struct written_block {
    block* target;
    std::vector<draft> drafts;
  };
  struct open_function {
    std::string name;
    std::shared_ptr<const function> body;
  };
  std::map<std::pair<const function*, state_list>, block*> blocks;
  std::deque<written_block> written;
  std::vector<open_function> open; // functions that are being written, the outermost first
};

class code_writer {
public:
  virtual ~code_writer() = default;

protected:
  code_writer(program_writer& writer, const graph& source);

  /// Returns the slot of a tensor in the code that is being written.
  virtual uint32_t slot_of(edge from) const = 0;
  virtual result<named_state*> state_behind(const node& maker) = 0;
  /// Called when the code that computes a node's outputs has been written.
  virtual void on_outputs_written(const node&) {}

  struct gathered {
    std::vector<uint32_t> slots;
    std::vector<named_state*> states; // empty when there are no refs
  };
  result<gathered> gather(node& node);
  draft& add(action kind, const node* origin);
  void add_input(draft& instruction_draft, uint32_t slot);
  /// These write a node that reads, runs a kernel, or calls functions.
  status write_read(node& node);
  status write_kernel(node& node, const gathered& operands);
  status write_call(node& node, const gathered& operands);
  /// Releases each tensor after its last use, except constants. Returns the slots that are read.
  std::map<uint32_t, bool> release_after_last_use(size_t first, size_t count);

  static instruction resolved(const draft& unresolved, const program& owner);
  friend struct program_writer;

  program_writer& writer_;
  program& out_;
  const graph& graph_;
  accelerator* const accelerator_; // or null
  const kernel_sites kernel_sites_;
  uint32_t slots_ = 0;
  uint32_t region_ = 0; // the region that is being written
  std::map<const node*, uint32_t> first_slot_;
  std::vector<draft> drafts_;
  std::set<uint32_t> constant_slots_;

private:
  void add_read(const node& reader, uint32_t slot, named_state* state);
  uint32_t upload(edge from);
  status write_callee(call_site& site, const node& caller, const function_value& callee,
                      const program_writer::state_list& states);
  void finish_operands(draft& code, node& node, const gathered& operands);

  std::map<std::tuple<const node*, int, uint32_t>, uint32_t> uploads_; // slots, by edge and region
};

} // namespace troupe
