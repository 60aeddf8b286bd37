// Turns a partition's graph into a program.
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/program/code_writer.hpp"
#include "troupe/runtime/program/collective.hpp"
#include "troupe/runtime/program/order_effects.hpp"
#include "troupe/runtime/program/pending_inputs.hpp"
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/program/regions.hpp"
#include "troupe/runtime/program/replay.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace troupe {
namespace {

// Whether it runs functions as often as a condition says: in a loop, or because they call
// themselves.
bool may_loop(const node& call) {
  std::vector<const node*> open{&call};
  std::set<const function*> seen;
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    if (at->op().calls == calling::while_true)
      return true;
    for (const auto* each : functions_of(*at)) {
      if (!each->body)
        return true;
      if (seen.insert(&*each->body).second)
        for (const auto& inner : each->body->body().nodes())
          if (runs_functions(inner->op()))
            open.push_back(inner.get());
    }
  }
  return false;
}

} // namespace

// Works region by region: first learns what each needs from the others, then writes its code.
class compiler final : code_writer {
public:
  compiler(program_writer& with, const region_options& options)
      : code_writer(with, *with.out.graph_), options_(options),
        regions_(find_regions(graph_, options)), imports_(regions_.count), after_(regions_.count),
        members_(regions_.count) {}

  status run() {
    out_.regions_.resize(regions_.count);
    for (const auto& node : graph_.nodes())
      TROUPE_TRY(survey(*node));
    out_.regions_[0].required_tokens = 1; // the start
    for (uint32_t r = 1; r < regions_.count; ++r)
      if (out_.regions_[r].required_tokens == 0) { // nothing else would start it
        out_.regions_[r].required_tokens = 1;
        started_.push_back(r);
      }
    for (uint32_t r = 0; r < regions_.count; ++r)
      TROUPE_TRY(write_region(r));
    for (auto& region : out_.regions_)
      release(region);
    weigh();
    for (const auto& each : drafts_)
      out_.code_.push_back(resolved(each, out_));
    with_.finish();
    std::ranges::sort(out_.constants_, {}, &constant_point::slot);
    out_.slots_ = slots_;
    return {};
  }

private:
  using endpoint = std::pair<const node*, int>;

  uint32_t region_of(const node& node) const { return regions_.of[static_cast<size_t>(node.id())]; }
  uint32_t issue_region(const node& node) const {
    return regions_.issued_from[static_cast<size_t>(node.id())];
  }
  bool is(const node& node, const op_def& op) const { return &node.op() == &op; }

  // Gives slots to outputs, and makes a token for each tensor or order that crosses regions.
  status survey(node& n) {
    auto later = [&](const node* before) { return before->id() >= n.id(); };
    if (std::ranges::any_of(n.inputs(), later, &edge::node) ||
        std::ranges::any_of(n.controls(), later))
      return failure(error_kind::internal, n.description(), ": comes before what it depends on");
    auto here = issue_region(n);
    members_[here].push_back(&n);
    for (int i = 0; i < static_cast<int>(n.inputs().size()); ++i) {
      const auto& from = n.inputs()[static_cast<size_t>(i)];
      if (is_at_hand(*from.node) && !is(*from.node, internal_ops::feed))
        continue; // it does not run: there is nothing to wait for
      if (from.node->output_is_ref(from.index))
        need_order(*from.node, here);
      else
        need_tensor(from, here);
      if (accelerator_ && is(*from.node, internal_ops::recv))
        note_use(wait_of_.at(from.node), n, i);
      else if (accelerator_ && may_come_to_device(*from.node) && kernel_sites_.wants_on_host(n, i))
        note_reader_on_host(from);
    }
    for (auto* before : n.controls())
      need_order(*before, here);
    if (has(n.op().effects, effect::blocking))
      TROUPE_TRY(add_wait(n));
    first_slot_[&n] = slots_;
    slots_ += static_cast<uint32_t>(n.outputs());
    if (is(n, internal_ops::feed))
      out_.feeds_.push_back({static_cast<uint32_t>(n.attr<int64_t>("index")), first_slot_[&n], &n});
    return {};
  }

  // By elements of queues, and by what frames are given and give.
  bool may_come_to_device(const node& wait) const {
    return wait.op().ask || is(wait, internal_ops::frame) || is(wait, internal_ops::frame_argument);
  }

  void note_use(uint32_t wait, const node& by, int input) {
    if (kernel_sites_.wants_on_host(by, input))
      looked_at_.insert(wait);
    out_.waits_[wait].on_device =
        !looked_at_.contains(wait) &&
        (out_.waits_[wait].on_device || kernel_sites_.wants_on_device(by, input));
  }

  void note_reader_on_host(edge of) {
    auto& read = out_.waits_[wait_of_.at(of.node)].on_host;
    read.resize(static_cast<size_t>(of.node->outputs()));
    read[static_cast<size_t>(of.index)] = true;
  }

  void need_tensor(edge from, uint32_t here) {
    auto there = region_of(*from.node);
    if (there == here)
      return;
    auto [it, fresh] = imports_[here].emplace(endpoint{from.node, from.index}, 0);
    if (!fresh)
      return;
    it->second = slots_++;
    tokens_[{from.node, from.index}].emplace_back(here, it->second);
    ++out_.regions_[here].required_tokens;
  }

  void need_order(const node& before, uint32_t here) {
    auto there = region_of(before);
    if (there == here)
      return;
    auto [it, fresh] = after_[there].emplace(here, &before);
    if (fresh)
      ++out_.regions_[here].required_tokens;
    else if (before.id() > it->second->id())
      it->second = &before;
  }

  status add_wait(node& node) {
    wait_point wait{.origin = &node, .region = region_of(node)};
    if (node.op().ask) {
      wait.by = answered_by::state;
      wait.state = node.op().makes != resource::none ? &node : resource_behind(node.inputs()[0]);
      if (!wait.state || !wait.state->op().make_responder ||
          (&node != wait.state && wait.state->op().makes != node.op().inputs[0].to))
        return invalid(node.description(), ": its first input must be a ",
                       to_string(node.op().inputs[0].to));
      if (node.op().inputs.size() > 1 && is_asked(node.op().inputs[1].to)) {
        const auto& port = node.op().inputs[1];
        wait.source = resource_behind(node.inputs()[1]);
        if (!wait.source || !wait.source->op().make_responder || wait.source->op().makes != port.to)
          return invalid(node.description(), ": its second input must be a ", to_string(port.to));
      }
    } else if (is_collective(node.op())) {
      wait.by = answered_by::group;
    } else if (node.graph().ops().find_work(node.op().name)) {
      wait.by = answered_by::work;
    } else if (is(node, internal_ops::frame)) {
      wait.by = answered_by::frame;
    } else if (is(node, internal_ops::frame_argument)) {
      wait.by = answered_by::caller;
    } else if (!is(node, internal_ops::recv) && !is(node, internal_ops::recv_control)) {
      return failure(error_kind::unimplemented, node.description(), ": nothing answers this wait");
    }
    for (int i = 0; i < node.outputs(); ++i)
      wait.slots.push_back(slots_ + static_cast<uint32_t>(i));
    ++out_.regions_[wait.region].required_tokens; // the answer
    wait_of_[&node] = static_cast<uint32_t>(out_.waits_.size());
    out_.waits_.push_back(std::move(wait));
    return {};
  }

  uint32_t slot_of(edge from) const override {
    if (region_of(*from.node) == here_)
      return first_slot_.at(from.node) + static_cast<uint32_t>(from.index);
    return imports_[here_].at({from.node, from.index});
  }

  void outputs_made(const node& node) override { write_tokens(node); }

  status write_region(uint32_t here) {
    here_ = here;
    auto& region = out_.regions_[here];
    region.first = static_cast<uint32_t>(drafts_.size());
    std::multimap<const node*, uint32_t> orders; // who hears when that has run
    for (auto [target, last] : after_[here])
      orders.emplace(last, target);
    auto write_orders = [&](const node& last) {
      auto [begin, end] = orders.equal_range(&last);
      for (auto it = begin; it != end; ++it)
        add(action::token, nullptr).code.target = it->second;
    };
    if (here == 0)
      for (auto target : started_)
        add(action::token, nullptr).code.target = target;
    // The answer to a wait may be wanted elsewhere at once.
    for (const auto& wait : out_.waits_)
      if (wait.region == here) {
        write_tokens(*wait.origin);
        write_orders(*wait.origin);
      }
    for (auto* node : members_[here]) {
      TROUPE_TRY(write_node(*node));
      if (region_of(*node) == here)
        write_orders(*node);
    }
    region.count = static_cast<uint32_t>(drafts_.size()) - region.first;
    return {};
  }

  status write_node(node& node) {
    if (is(node, internal_ops::feed)) {
      write_tokens(node);
      return {};
    }
    if (node.op().makes != resource::none && !node.op().ask)
      return {}; // stands for state; there is nothing to run
    if (!accelerator_ && node.op().name == "Const")
      return keep_constant(node);
    if (node.inputs().size() > UINT16_MAX || node.outputs() > UINT16_MAX)
      return invalid(node.description(), ": has more than ", UINT16_MAX, " inputs or outputs");
    if (is(node, internal_ops::read))
      return write_read(node);
    TROUPE_ASSIGN(auto operands, gather(node));
    if (has(node.op().effects, effect::blocking)) {
      if (is(node, internal_ops::recv) || is(node, internal_ops::recv_control) ||
          is(node, internal_ops::frame_argument))
        return {};
      auto& code = add(action::wait, &node);
      for (auto slot : operands.slots)
        add_input(code, slot);
      code.code.target = wait_of_.at(&node);
      return {};
    }
    if (is(node, internal_ops::fetch) || is(node, internal_ops::frame_result)) {
      auto& code = add(action::fetch, &node);
      add_input(code, operands.slots[0]);
      code.code.target = static_cast<uint32_t>(node.attr<int64_t>("index"));
      out_.fetches_.push_back(code.code.target);
      return {};
    }
    if (is(node, internal_ops::send) || is(node, internal_ops::send_control)) {
      auto& code = add(action::send, &node);
      for (auto slot : operands.slots)
        add_input(code, slot);
      code.code.target = static_cast<uint32_t>(out_.exports_.size());
      out_.exports_.push_back(
          {static_cast<uint32_t>(node.attr<int64_t>("key")), node.attr<std::string>("to"), &node});
      return {};
    }
    return runs_functions(node.op()) ? write_call(node, operands) : write_kernel(node, operands);
  }

  // It would run in each step, and count its tensor's references up and down.
  status keep_constant(const node& node) {
    auto slot = first_slot_.at(&node);
    out_.constants_.push_back({slot, node.attr<tensor>("value"), &node});
    constant_slots_.insert(slot);
    write_tokens(node);
    return {};
  }

  result<named_state*> state_behind(const node& maker) override {
    auto [it, fresh] = known_.emplace(&maker, nullptr);
    if (fresh && maker.op().per_step) {
      auto like = std::static_pointer_cast<variable>(maker.op().make(maker, maker.name()));
      like->set_index_in_step(static_cast<int>(out_.temporaries_.size()));
      it->second = like.get();
      out_.temporaries_.push_back(std::move(like));
    } else if (fresh) {
      auto state = with_.find_state(maker);
      if (!state)
        return within(maker, state.status());
      it->second = state->get();
      out_.named_.push_back(*std::move(state));
    }
    return it->second;
  }

  // Tensors leave for other regions as soon as they exist.
  void write_tokens(const node& node) {
    for (int i = 0; i < node.outputs(); ++i) {
      auto it = tokens_.find({&node, i});
      if (it == tokens_.end())
        continue;
      for (auto [target, slot] : it->second) {
        auto& code = add(action::token, &node);
        add_input(code, first_slot_.at(&node) + static_cast<uint32_t>(i));
        code.code.target = target;
        code.code.first_output = slot; // in the other region
      }
    }
  }

  void release(const region& region) {
    auto read = release_after_last_use(region.first, region.count);
    // No instruction would release an answer or a feed that nobody reads.
    for (auto& wait : out_.waits_)
      if (&out_.regions_[wait.region] == &region)
        for (auto& slot : wait.slots)
          if (!read.contains(slot))
            slot = UINT32_MAX;
    if (&region == &out_.regions_[0])
      std::erase_if(out_.feeds_, [&](const auto& one) { return !read.contains(one.slot); });
  }

  // Says what regions cost, and at which tokens the rest of a region is still worth a thread of its
  // own.
  void weigh() {
    for (auto& region : out_.regions_)
      for (auto at = region.first; at < region.first + region.count; ++at)
        if (const auto& code = drafts_[at].code; code.what == action::call)
          region.loops = region.loops || may_loop(*code.origin);
    if (accelerator_)
      return; // launching takes little, whatever is launched
    auto enough = worth_dispatching(options_);
    for (auto& region : out_.regions_)
      for (auto at = region.first + region.count; at-- > region.first;) {
        auto& code = drafts_[at].code;
        if (code.what == action::run || code.what == action::call)
          region.nanoseconds += expected_nanoseconds(*code.origin, options_.measured);
        code.long_tail = code.what == action::token && region.nanoseconds >= enough;
      }
    for (auto& region : out_.regions_)
      region.heavy = region.nanoseconds >= enough;
  }

  const region_options& options_;
  region_map regions_;
  std::vector<std::map<endpoint, uint32_t>> imports_;  // per region: slot of what comes from others
  std::vector<std::map<uint32_t, const node*>> after_; // per region: who waits for which node
  std::vector<uint32_t> started_;                      // regions that need only the start
  std::vector<std::vector<node*>> members_;            // per region, in order
  std::map<endpoint, std::vector<std::pair<uint32_t, uint32_t>>> tokens_; // to (region, slot)
  std::map<const node*, uint32_t> wait_of_;
  std::set<uint32_t> looked_at_; // waits for what the host reads
  std::map<const node*, named_state*> known_;
};

result<std::shared_ptr<const program>>
program::compile(std::unique_ptr<graph> of, troupe::device& on, const state_finder& find_state,
                 const region_options& options, const kernel_state_finder& find_kernel_state) {
  std::shared_ptr<program> made{new program};
  made->graph_ = std::move(of);
  made->device_ = &on;
  order_effects(*made->graph_, options.strict_order);
  auto regions = options;
  if (on.as_accelerator())
    regions.workers = 1; // all that it runs stands in one line
  program_writer with{*made, find_state, find_kernel_state, !options.one_per_node, {}, {}, {}};
  TROUPE_TRY(compiler{with, regions}.run());
  uint32_t records = 0;
  for (auto& one : made->blocks_) {
    one.first_record = records;
    records += static_cast<uint32_t>(one.code.size());
  }
  if (on.as_accelerator())
    made->pending_inputs_ = find_pending_inputs(*made);
  made->replays_.resize(made->regions_.size());
  if (on.as_accelerator() && options.replay)
    for (uint32_t r = 0; r < made->regions_.size(); ++r)
      made->replays_[r] = region_replay::make(*made, r);
  return std::shared_ptr<const program>{std::move(made)};
}

status program::check_state() const {
  for (const auto& one : named_)
    if (one->retired())
      return failure(error_kind::aborted, one->kind(), " '", one->name(),
                     "' was reset and is declared otherwise since: prepare the step again");
  return {};
}

std::string program::describe() const {
  std::ostringstream out;
  for (const auto& one : constants_)
    out << "constant " << one.origin->name() << " -> " << one.slot << '\n';
  for (size_t r = 0; r < regions_.size(); ++r) {
    out << "region " << r << ", after " << regions_[r].required_tokens << " tokens:\n";
    for (uint32_t i = 0; i < regions_[r].count; ++i) {
      const auto& code = code_[regions_[r].first + i];
      constexpr const char* names[] = {"run",  "run on the host", "upload", "call",
                                       "read", "token to region", "send",   "fetch",
                                       "wait"};
      out << "  " << names[static_cast<size_t>(code.what)];
      if (code.what > action::read)
        out << ' ' << code.target;
      if (code.origin)
        out << ' ' << code.origin->op().name << " '" << code.origin->name() << '\'';
      for (uint16_t k = 0; k < code.input_count; ++k)
        out << (k ? ", " : " (") << code.inputs[k] << (k + 1 == code.input_count ? ")" : "");
      if (code.output_count)
        out << " -> " << code.first_output;
      out << '\n';
    }
  }
  return std::move(out).str();
}

} // namespace troupe
