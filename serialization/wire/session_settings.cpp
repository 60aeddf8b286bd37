#include "troupe/serialization/wire/session_settings.hpp"

#include "troupe/serialization/wire/capnp_text.hpp"

namespace troupe {
namespace {

template <class... Ts>
status damaged(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged message: ", parts...);
}

// Reads the number of an enumerator.
template <class Enum>
status read_enum(uint8_t from, Enum last, const char* name, Enum& to) {
  if (from > static_cast<uint8_t>(last))
    return damaged(name, " is ", int{from});
  to = static_cast<Enum>(from);
  return {};
}

} // namespace

void write_settings(wire::SessionOpen::Builder to, const session_open& settings) {
  to.setContainer(as_text(settings.container));
  to.setRegionPerNode(settings.region_per_node);
  to.setDeterministic(settings.deterministic);
  to.setNoReplay(!settings.replay);
  to.setPlaceByCost(settings.place_by_cost);
  to.setMaxConcurrent(settings.max_concurrent);
  to.setBetweenTasks(static_cast<uint8_t>(settings.transfer_precision));
  to.setStrategy(static_cast<uint8_t>(settings.placement.strategy));
  to.setSoft(settings.placement.soft);
  to.setReceives(static_cast<uint8_t>(settings.placement.receives));
  to.setFold(settings.passes.fold);
  to.setSimplify(settings.passes.simplify);
  to.setMerge(settings.passes.merge);
  to.setDead(settings.passes.remove_dead);
  to.setFuse(settings.passes.fuse);
  to.setSchedule(settings.passes.schedule);
  to.setHoistCollectives(settings.passes.hoist_collectives);
  to.setHoistInvariants(settings.passes.hoist_invariants);
  to.setMixedPrecision(static_cast<uint8_t>(settings.passes.mixed_precision));
  to.setSwap(static_cast<uint8_t>(settings.passes.swap.mode));
  to.setSwapMemory(settings.passes.swap.memory);
  to.setSwapAtLeast(settings.passes.swap.min_bytes);
  to.setRestores(settings.restores);
}

result<session_open> read_settings(wire::SessionOpen::Reader in) {
  session_open settings{.container = text_of(in.getContainer()),
                        .region_per_node = in.getRegionPerNode(),
                        .deterministic = in.getDeterministic(),
                        .replay = !in.getNoReplay(),
                        .place_by_cost = in.getPlaceByCost(),
                        .max_concurrent = in.getMaxConcurrent()};
  TROUPE_TRY(read_enum(in.getBetweenTasks(), f32_transfer::rounded, "f32 between tasks",
                       settings.transfer_precision));
  TROUPE_TRY(read_enum(in.getStrategy(), placement_strategy::greedy, "a placement",
                       settings.placement.strategy));
  TROUPE_TRY(
      read_enum(in.getReceives(), recv_schedule::late, "a schedule", settings.placement.receives));
  settings.placement.soft = in.getSoft();
  auto& passes = settings.passes;
  passes.fold = in.getFold();
  passes.simplify = in.getSimplify();
  passes.merge = in.getMerge();
  passes.remove_dead = in.getDead();
  passes.fuse = in.getFuse();
  passes.schedule = in.getSchedule();
  passes.hoist_collectives = in.getHoistCollectives();
  passes.hoist_invariants = in.getHoistInvariants();
  passes.mixed_precision = static_cast<dtype>(in.getMixedPrecision());
  if (auto type = passes.mixed_precision;
      type != dtype::none && type != dtype::bf16 && type != dtype::f16)
    return damaged("mixed precision is ", int{in.getMixedPrecision()});
  TROUPE_TRY(read_enum(in.getSwap(), swap_mode::on, "swapping", passes.swap.mode));
  passes.swap.memory = in.getSwapMemory();
  passes.swap.min_bytes = in.getSwapAtLeast();
  settings.restores = in.getRestores();
  return settings;
}

void write_tasks(wire::SessionReply::Builder to, const session_reply& source) {
  auto held = to.initHeld(static_cast<unsigned>(source.state_peers.size()));
  for (unsigned i = 0; i < held.size(); ++i) {
    held[i].setTask(as_text(source.state_peers[i].task));
    held[i].setIncarnation(source.state_peers[i].incarnation);
  }
  auto losses = to.initLosses(static_cast<unsigned>(source.losses.size()));
  for (unsigned i = 0; i < losses.size(); ++i) {
    losses[i].setTask(as_text(source.losses[i].task));
    losses[i].setNumber(source.losses[i].number);
  }
  auto fills = to.initFills(static_cast<unsigned>(source.initializations.size()));
  for (unsigned i = 0; i < fills.size(); ++i) {
    fills[i].setTask(as_text(source.initializations[i].task));
    fills[i].setStage(static_cast<uint8_t>(source.initializations[i].stage));
  }
}

status read_tasks(wire::SessionReply::Reader in, session_reply& to) {
  for (auto item : in.getHeld())
    to.state_peers.push_back({text_of(item.getTask()), item.getIncarnation()});
  for (auto item : in.getLosses())
    to.losses.push_back({text_of(item.getTask()), item.getNumber()});
  for (auto item : in.getFills()) {
    TROUPE_ASSIGN(auto stage, read_stage(item.getStage()));
    to.initializations.push_back({text_of(item.getTask()), stage});
  }
  return {};
}

result<initialization_stage> read_stage(uint8_t from) {
  auto stage = initialization_stage::over;
  TROUPE_TRY(read_enum(from, initialization_stage::by_requester, "the stage of a fill", stage));
  return stage;
}

} // namespace troupe
