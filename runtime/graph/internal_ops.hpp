// Ops that the runtime itself puts into the graphs of steps; users never write them.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe::internal_ops {

extern const op_def feed; ///< _Feed(index, dtype, shape): what the client, or a caller, gave
/// _VariableArgument(index, dtype, shape), _TableArgument(index): state that a function is given
extern const op_def variable_argument, table_argument;
/// The same for what nodes wait for.
extern const op_def queue_argument, accumulator_argument, barrier_argument, mutex_argument,
    reader_argument;
extern const op_def fetch;        ///< _Fetch(value; index): what the client gets
extern const op_def send;         ///< _Send(value; key, to): leaves the device
extern const op_def recv;         ///< _Recv(key, dtype, shape): comes from another device
extern const op_def send_control; ///< _SendControl(key, to): the news that its controls have run
extern const op_def recv_control; ///< _RecvControl(key)
extern const op_def read;         ///< _Read(variable): its value, at a moment of its own
extern const op_def frame;        ///< _Frame(values; ...): functions that run as steps in the step
extern const op_def frame_argument; ///< _FrameArgument(index, dtype, shape): what one is given
extern const op_def frame_result;   ///< _FrameResult(value; index): what it gives
extern const op_def fused;          ///< _Fused(inputs; ...): several element-wise ops in one loop

extern const op_def swap_out; ///< _SwapOut(value): its copy in the host's memory
extern const op_def swap_in;  ///< _SwapIn(saved; dtype, shape): begins to come back
extern const op_def swapped;  ///< _Swapped(pending): the value, when it is there

extern const op_def fused_matmul; ///< _FusedMatMul(a, b, bias; ...): what was joined to it
extern const op_def fused_conv2d; ///< _FusedConv2D(input, filter, bias; ...)

extern const op_def tuple;       ///< _Tuple(components; places, count): one value of several
extern const op_def tuple_items; ///< _TupleItems(tuple; places, types, shapes): some of them

extern const op_def pieces;        ///< _Pieces(value; ...): what each task reduces (piece.hpp)
extern const op_def reduce_pieces; ///< _ReducePieces(pieces; ...): one of each task
extern const op_def join_pieces;   ///< _JoinPieces(pieces, like)
extern const op_def join_rows;     ///< _JoinRows(rows; ...): what tasks have gathered

inline constexpr const op_def* all[] = {&feed,
                                        &variable_argument,
                                        &table_argument,
                                        &queue_argument,
                                        &accumulator_argument,
                                        &barrier_argument,
                                        &mutex_argument,
                                        &reader_argument,
                                        &fetch,
                                        &send,
                                        &recv,
                                        &send_control,
                                        &recv_control,
                                        &read,
                                        &frame,
                                        &frame_argument,
                                        &frame_result,
                                        &fused,
                                        &swap_out,
                                        &swap_in,
                                        &swapped,
                                        &fused_matmul,
                                        &fused_conv2d,
                                        &tuple,
                                        &tuple_items,
                                        &pieces,
                                        &reduce_pieces,
                                        &join_pieces,
                                        &join_rows};

/// The op that stands for state of this kind that a function is given, or nullptr.
const op_def* state_argument(resource kind) noexcept;

/// Says whether the node stands for a value that the client gives or gets.
bool is_boundary(const node& node) noexcept;

/// Says whether the node gives the same in each run, whatever ran before.
bool is_constant(const node& node) noexcept;

} // namespace troupe::internal_ops
