#include "troupe/serialization/wire/session_settings.hpp"

#include "troupe/serialization/wire/capnp_text.hpp"

namespace troupe {
namespace {

template <class... Ts>
status damaged(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged message: ", parts...);
}

// A number that stands for one of so many values.
template <class Enum>
status read_enum(uint8_t from, Enum last, const char* of, Enum& to) {
  if (from > static_cast<uint8_t>(last))
    return damaged(of, " is ", int{from});
  to = static_cast<Enum>(from);
  return {};
}

} // namespace

void write_settings(wire::SessionOpen::Builder to, const session_open& what) {
  to.setContainer(as_text(what.container));
  to.setRegionPerNode(what.region_per_node);
  to.setDeterministic(what.deterministic);
  to.setNoReplay(!what.replay);
  to.setPlaceByCost(what.place_by_cost);
  to.setMaxConcurrent(what.max_concurrent);
  to.setBetweenTasks(static_cast<uint8_t>(what.between_tasks));
  to.setStrategy(static_cast<uint8_t>(what.placement.strategy));
  to.setSoft(what.placement.soft);
  to.setReceives(static_cast<uint8_t>(what.placement.receives));
  to.setFold(what.passes.fold);
  to.setSimplify(what.passes.simplify);
  to.setMerge(what.passes.merge);
  to.setDead(what.passes.dead);
  to.setFuse(what.passes.fuse);
  to.setSchedule(what.passes.schedule);
  to.setHoistCollectives(what.passes.hoist_collectives);
  to.setHoistInvariants(what.passes.hoist_invariants);
  to.setMixedPrecision(static_cast<uint8_t>(what.passes.mixed_precision));
  to.setSwap(static_cast<uint8_t>(what.passes.swap.mode));
  to.setSwapMemory(what.passes.swap.memory);
  to.setSwapAtLeast(what.passes.swap.at_least);
  to.setRestores(what.restores);
}

result<session_open> read_settings(wire::SessionOpen::Reader in) {
  session_open made{.container = text_of(in.getContainer()),
                    .region_per_node = in.getRegionPerNode(),
                    .deterministic = in.getDeterministic(),
                    .replay = !in.getNoReplay(),
                    .place_by_cost = in.getPlaceByCost(),
                    .max_concurrent = in.getMaxConcurrent()};
  TROUPE_TRY(read_enum(in.getBetweenTasks(), f32_transfer::rounded, "f32 between tasks",
                       made.between_tasks));
  TROUPE_TRY(read_enum(in.getStrategy(), placement_strategy::greedy, "a placement",
                       made.placement.strategy));
  TROUPE_TRY(
      read_enum(in.getReceives(), recv_schedule::late, "a schedule", made.placement.receives));
  made.placement.soft = in.getSoft();
  auto& passes = made.passes;
  passes.fold = in.getFold();
  passes.simplify = in.getSimplify();
  passes.merge = in.getMerge();
  passes.dead = in.getDead();
  passes.fuse = in.getFuse();
  passes.schedule = in.getSchedule();
  passes.hoist_collectives = in.getHoistCollectives();
  passes.hoist_invariants = in.getHoistInvariants();
  passes.mixed_precision = static_cast<dtype>(in.getMixedPrecision());
  if (auto to = passes.mixed_precision; to != dtype::none && to != dtype::bf16 && to != dtype::f16)
    return damaged("mixed precision is ", int{in.getMixedPrecision()});
  TROUPE_TRY(read_enum(in.getSwap(), swap_mode::on, "swapping", passes.swap.mode));
  passes.swap.memory = in.getSwapMemory();
  passes.swap.at_least = in.getSwapAtLeast();
  made.restores = in.getRestores();
  return made;
}

void write_tasks(wire::SessionReply::Builder to, const session_reply& what) {
  auto held = to.initHeld(static_cast<unsigned>(what.held.size()));
  for (unsigned i = 0; i < held.size(); ++i) {
    held[i].setTask(as_text(what.held[i].task));
    held[i].setIncarnation(what.held[i].incarnation);
  }
  auto losses = to.initLosses(static_cast<unsigned>(what.losses.size()));
  for (unsigned i = 0; i < losses.size(); ++i) {
    losses[i].setTask(as_text(what.losses[i].task));
    losses[i].setNumber(what.losses[i].number);
  }
  auto fills = to.initFills(static_cast<unsigned>(what.fills.size()));
  for (unsigned i = 0; i < fills.size(); ++i) {
    fills[i].setTask(as_text(what.fills[i].task));
    fills[i].setStage(static_cast<uint8_t>(what.fills[i].stage));
  }
}

status read_tasks(wire::SessionReply::Reader in, session_reply& to) {
  for (auto each : in.getHeld())
    to.held.push_back({text_of(each.getTask()), each.getIncarnation()});
  for (auto each : in.getLosses())
    to.losses.push_back({text_of(each.getTask()), each.getNumber()});
  for (auto each : in.getFills()) {
    TROUPE_ASSIGN(auto stage, read_stage(each.getStage()));
    to.fills.push_back({text_of(each.getTask()), stage});
  }
  return {};
}

result<fill_stage> read_stage(uint8_t from) {
  auto made = fill_stage::over;
  TROUPE_TRY(read_enum(from, fill_stage::by_asker, "the stage of a fill", made));
  return made;
}

} // namespace troupe
