// SPDX-License-Identifier: BSD-2-Clause
// The machine on which translated kernels run: translate.py turns each PTX kernel into a C++ struct
// that derives from Thread, has one member per register, and whose run() executes one thread up to
// its next barrier. This file defines Thread, the functions that the instructions' expressions
// (instructions.py) call, and runBlocks(), which runs the threads of a block in turns from barrier
// to barrier. Only translated sources include it. They are compiled with -fwrapv, since PTX's
// integers wrap, and with -ffp-contract=off, since nvcc has already chosen which products and sums
// are fused.
//
// The program ends, with the name of the kernel and the line of its PTX, if an access is not
// aligned or outside the block's shared memory, if not all threads of a block reach the same
// barrier, or if an integer is divided by 0.
#pragma once

#include "standin/kernels.hpp"
#include "standin/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::standin::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

template <class T>
constexpr u32 bitsOf = 8 * sizeof(T);

// Returns the same bits as a value of another type.
template <class To, class From>
To as(From value) {
  return std::bit_cast<To>(value);
}

template <class T>
T load(u64 address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void store(u64 address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

// A thread of a block. Kernels derive from it and add their registers.
struct Thread {
  u64 parameter = 0, shared = 0; // addresses of the parameter and of the block's shared memory
  u32 sharedBytes = 0;
  u32 block = 0, blocks = 0, thread = 0, threads = 0; // blockIdx, gridDim, threadIdx, blockDim
  u32 barrier = 0; // number of the barrier at which it waits; 0 at the begin
  bool hasEnded = false;
  Counts counts;

  // Each returns the address on the host of `bytes` bytes, after checks: aligned() of any memory,
  // reads() and writes() of global memory, whose bytes they count, and shares() of shared memory,
  // from an offset. `line` is the line of PTX with the access.
  u64 aligned(u64 address, u32 bytes, int line) const {
    if (address % bytes != 0) [[unlikely]]
      refuseAccess("an access is not aligned", address, bytes, line);
    return address;
  }
  u64 reads(u64 address, u32 bytes, int line) {
    counts.read += bytes;
    return aligned(address, bytes, line);
  }
  u64 writes(u64 address, u32 bytes, int line) {
    counts.written += bytes;
    return aligned(address, bytes, line);
  }
  u64 shares(u64 offset, u32 bytes, int line) const {
    if (offset + bytes > sharedBytes) [[unlikely]]
      refuseAccess("an access leaves shared memory", offset, bytes, line);
    return shared + aligned(offset, bytes, line);
  }
};

// The functions that expressions in instructions.py call.
template <class T>
bool isOrdered(T a, T b) {
  return a == a && b == b;
}
// Minimum as in PTX: of a number and NaN it is the number, and -0 is less than 0.
template <class T>
T lesser(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b || a == b)
      return a != a ? b : b != b || std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return -lesser(-a, -b);
  else
    return a < b ? b : a;
}
template <class T>
T quotient(T a, T b) {
  if (b == 0) [[unlikely]]
    refuseKernel("an integer is divided by 0");
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return -a;
  return a / b;
}
// The upper half of the product's bits.
template <class T>
T highHalf(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T(Wide(a) * Wide(b) >> bitsOf<T>);
}
// Sum and difference of one digit of a longer number: `in` is the carry or borrow of the digit
// before, and `carry` gets that of this digit.
template <class T>
T sum(T a, T b, u32 in, u32& carry) {
  const auto all = static_cast<unsigned __int128>(a) + b + in;
  carry = u32(all >> bitsOf<T>);
  return T(all);
}
template <class T>
T difference(T a, T b, u32 in, u32& carry) {
  carry = static_cast<unsigned __int128>(a) < static_cast<unsigned __int128>(b) + in;
  return T(a - b - in);
}
// PTX defines shifts by any number of bits, C++ does not.
template <class T>
T shiftedRight(T a, u32 bits) {
  return a >> std::min(bits, bitsOf<T> - 1) >> (bits < bitsOf<T> ? 0 : 1);
}
// Returns b with its bits from number `first` on replaced by the lowest `bits` bits of a (PTX's
// bfi).
template <class T>
T inserted(T a, T b, u32 first, u32 bits) {
  if (first % 256 >= bitsOf<T>)
    return b;
  const T ones = bits % 256 < bitsOf<T> ? (T(1) << bits % 256) - 1 : ~T(0);
  return (b & ~T(ones << first % 256)) | T((a & ones) << first % 256);
}
template <class T>
u32 leadingZeros(T a) {
  return u32(std::countl_zero(std::make_unsigned_t<T>(a)));
}
// Returns the nearest number of the type To. The results for NaN are from the table of PTX's
// instruction cvt.
template <class To, class From>
To converted(From a) {
  if constexpr (std::is_floating_point_v<To>) {
    return To(a);
  } else {
    using Limits = std::numeric_limits<To>;
    if (a != a)
      return sizeof(From) == 4 && sizeof(To) < 8 ? 0 : To(u64(1) << (bitsOf<To> - 1));
    if (a < From(Limits::min()))
      return Limits::min();
    return a >= std::ldexp(From(1), Limits::digits) ? Limits::max() : To(a);
  }
}
// Returns the bits of the nearest bfloat16 number: of two the even one, and 0x7fff for NaN.
inline u16 nearestBFloat16(f32 a) {
  const u32 upper = as<u32>(a) >> 16, rest = as<u32>(a) & 0xffff;
  const bool isUp = rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1);
  return a != a ? 0x7fff : u16(upper + (isUp ? 1 : 0));
}
// Returns 0 with the same sign for a subnormal number.
template <class T>
T flushed(T a) {
  return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(T(0), a) : a;
}
// An approximate reciprocal (rcp.approx.ftz): of float64 only the upper half of the bits, with
// which code for the device begins Newton's iterations.
inline f64 roughReciprocal(f64 a) {
  return flushed(as<f64>(as<u64>(1 / flushed(a)) & 0xffffffff00000000U));
}
inline f32 roughReciprocal(f32 a) {
  return flushed(1 / flushed(a));
}

inline std::string whereIs(const Thread& thread) {
  return "thread " + std::to_string(thread.thread) +
         (thread.hasEnded ? " has ended" : " is at barrier " + std::to_string(thread.barrier));
}

// Runs one block with barriers: all threads to their next barrier, one after the other, until they
// end.
template <class Kernel>
void runTogether(std::vector<Kernel>& threads) {
  const Kernel& first = threads.front();
  while (!first.hasEnded) {
    for (Kernel& thread : threads)
      thread.run();
    for (const Kernel& thread : threads)
      if (thread.hasEnded != first.hasEnded || thread.barrier != first.barrier)
        refuseKernel("threads of a block do not meet: " + whereIs(first) + ", " + whereIs(thread));
  }
}

// TENON_STANDIN_THREADS, see kernels.hpp.
inline bool areThreadsReversed() {
  static const bool are = [] {
    const char* text = std::getenv("TENON_STANDIN_THREADS");
    const std::string order = text ? text : "forward";
    if (order != "forward" && order != "reverse")
      refuse("TENON_STANDIN_THREADS is '" + order + "'; expected forward or reverse");
    return order == "reverse";
  }();
  return are;
}

// Returns the thread that runs as number `turn` of its block, in the block that runs as number
// `blockTurn`.
template <class Kernel>
Kernel threadOf(const Launch& launch, u32 blockTurn, u32 turn, u64 shared) {
  Kernel thread;
  thread.parameter = u64(launch.parameter);
  thread.shared = shared;
  thread.sharedBytes = Kernel::kShared;
  thread.block = launch.order ? launch.order[blockTurn] : blockTurn;
  thread.blocks = launch.blocks;
  thread.thread = areThreadsReversed() ? launch.threads - 1 - turn : turn;
  thread.threads = launch.threads;
  return thread;
}

// Runs all blocks of a launch. Shared memory is NaN at the begin of a block. In a kernel without
// barriers, each thread runs to its end before the next begins.
template <class Kernel>
void runBlocks(const Launch& launch, Counts& counts) {
  alignas(16) char shared[Kernel::kShared + 1];
  std::vector<Kernel> together;
  for (u32 block = 0; block < launch.blocks; ++block) {
    std::memset(shared, 0xff, sizeof shared);
    for (u32 number = 0; number < launch.threads; ++number) {
      auto thread = threadOf<Kernel>(launch, block, number, u64(&shared));
      if constexpr (Kernel::kHasBarriers) {
        together.push_back(thread);
      } else {
        thread.run();
        counts += thread.counts;
      }
    }
    if constexpr (Kernel::kHasBarriers) {
      runTogether(together);
      for (const Kernel& thread : together)
        counts += thread.counts;
      together.clear();
    }
  }
}

} // namespace tenon::standin::ptx
