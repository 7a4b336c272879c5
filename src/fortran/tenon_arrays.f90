! SPDX-License-Identifier: BSD-2-Clause
! Lets a tensor use an array of the program without a copy, or a pointer of the program use a tensor's array. These
! are interfaces of the C functions in arrays.c and pointers.c, which get the descriptor of an array of any rank, type
! and stride.
! Dimensions are counted in the order of the array's declaration. For example, with a block of nx x ny cells on this
! rank and one ghost cell on each side:
!
!     real(real64), target :: u(0:nx + 1, 0:ny + 1)
!     call tenon_place(x, u(1:nx, 1:ny), array=u)     x is the block, and the other cells of u are its ghost cells
module tenon_arrays
  use iso_c_binding
  use tenon_types
  implicit none
  private
  public :: tenon_place, tenon_place_read, tenon_place_components
  public :: tenon_partition_share_memory, tenon_partition_unshare_memory
  public :: tenon_get_array, tenon_get_local_array, tenon_restore_array
  public :: tenon_get_array_read, tenon_get_local_array_read, tenon_restore_array_read

  interface
    ! Makes a tensor use an array in place. Not collective.
    !   interior  this rank's block: u(lo(1):hi(1), lo(2):hi(2), ...); a section with any steps
    !   array     the array that contains the block, u: cells around the block are ghost cells. Without it
    !             there are no ghost cells.
    !   order     order(d) is the dimension of the array for dimension d of the tensor, or 0 for an omitted one,
    !             which can also be left out of the list; default: the dimensions in order
    ! Dimensions of one element can be omitted: first those with one element on all ranks, in each
    ! group the last first. The array must be a target, allocatable or pointer, and must not move;
    ! its extents must be those of the block. Pass a component as a section, cells(:, :)%b: gfortran
    ! 12 changes the address of an allocatable array or pointer when cells%b is passed.
    subroutine tenon_place(x, interior, array, order, ierr) bind(C, name="TenonFPlace")
      import
      type(tenon_dtensor), intent(in) :: x
      type(*), dimension(..), intent(inout), target, asynchronous :: interior
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array
      integer(c_int), intent(in), optional :: order(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine tenon_place

    ! The same for an array that must not change: calls that would modify the tensor are errors.
    subroutine tenon_place_read(x, interior, array, order, ierr) bind(C, name="TenonFPlaceRead")
      import
      type(tenon_dtensor), intent(in) :: x
      type(*), dimension(..), intent(in), target, asynchronous :: interior
      type(*), dimension(..), intent(in), target, asynchronous, optional :: array
      integer(c_int), intent(in), optional :: order(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine tenon_place_read

    ! Channels that are separate arrays, each with its own extents and ghost cells, as on a
    ! staggered grid. The arguments are the block of each component and the array that contains it,
    ! alternately, for at most six components. Each pair is checked as in tenon_place(), with one
    ! channel instead of all; the channel dimension can be omitted. The tensor uses an array of the
    ! library: tenon_dtensor_gather_arrays(x) fills it from the components, and
    ! tenon_dtensor_scatter_arrays(x) writes it back.
    subroutine tenon_place_components(x, first, first_array, second, second_array, third, third_array, fourth, &
        fourth_array, fifth, fifth_array, sixth, sixth_array, ierr) bind(C, name="TenonFPlaceComponents")
      import
      type(tenon_dtensor), intent(in) :: x
      type(*), dimension(..), intent(inout), target, asynchronous :: first, first_array
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: second, second_array, third, &
        third_array, fourth, fourth_array, fifth, fifth_array, sixth, sixth_array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tenon_place_components

    ! Lets the ranks of a node read a contiguous array in place: TenonPartitionShareMemory().
    subroutine tenon_partition_share_memory(partition, array, ierr) bind(C, name="TenonFShareMemory")
      import
      type(tenon_partition), intent(in) :: partition
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tenon_partition_share_memory

    subroutine tenon_partition_unshare_memory(partition, array, ierr) bind(C, name="TenonFUnshareMemory")
      import
      type(tenon_partition), intent(in) :: partition
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tenon_partition_unshare_memory
  end interface

  ! Points to this rank's box of a tensor, halo included, with global bounds. Until tenon_restore_array()
  ! no other call can use the tensor.
  interface tenon_get_array
    subroutine get_array_real64(x, array, ierr) bind(C, name="TenonFGetArrayReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_real64
    subroutine get_array_real32(x, array, ierr) bind(C, name="TenonFGetArrayReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_real32
    subroutine get_array_int64(x, array, ierr) bind(C, name="TenonFGetArrayInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_int64
    subroutine get_array_int32(x, array, ierr) bind(C, name="TenonFGetArrayInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_int32
  end interface tenon_get_array

  ! The same with this rank's bounds: its first owned element is 1 in each dimension, and its halo is below
  ! 1 and above the number of its own elements.
  interface tenon_get_local_array
    subroutine get_local_array_real64(x, array, ierr) bind(C, name="TenonFGetLocalArrayReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_real64
    subroutine get_local_array_real32(x, array, ierr) bind(C, name="TenonFGetLocalArrayReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_real32
    subroutine get_local_array_int64(x, array, ierr) bind(C, name="TenonFGetLocalArrayInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_int64
    subroutine get_local_array_int32(x, array, ierr) bind(C, name="TenonFGetLocalArrayInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_int32
  end interface tenon_get_local_array

  ! Ends the access, and nullifies the pointer.
  interface tenon_restore_array
    subroutine restore_array_real64(x, array, ierr) bind(C, name="TenonFRestoreArrayReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_real64
    subroutine restore_array_real32(x, array, ierr) bind(C, name="TenonFRestoreArrayReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_real32
    subroutine restore_array_int64(x, array, ierr) bind(C, name="TenonFRestoreArrayInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_int64
    subroutine restore_array_int32(x, array, ierr) bind(C, name="TenonFRestoreArrayInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_int32
  end interface tenon_restore_array

  ! The same for reading; several can be open at the same time.
  interface tenon_get_array_read
    subroutine get_array_read_real64(x, array, ierr) bind(C, name="TenonFGetArrayReadReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_read_real64
    subroutine get_array_read_real32(x, array, ierr) bind(C, name="TenonFGetArrayReadReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_read_real32
    subroutine get_array_read_int64(x, array, ierr) bind(C, name="TenonFGetArrayReadInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_read_int64
    subroutine get_array_read_int32(x, array, ierr) bind(C, name="TenonFGetArrayReadInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_array_read_int32
  end interface tenon_get_array_read

  interface tenon_get_local_array_read
    subroutine get_local_array_read_real64(x, array, ierr) bind(C, name="TenonFGetLocalArrayReadReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_read_real64
    subroutine get_local_array_read_real32(x, array, ierr) bind(C, name="TenonFGetLocalArrayReadReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_read_real32
    subroutine get_local_array_read_int64(x, array, ierr) bind(C, name="TenonFGetLocalArrayReadInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_read_int64
    subroutine get_local_array_read_int32(x, array, ierr) bind(C, name="TenonFGetLocalArrayReadInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(out) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_local_array_read_int32
  end interface tenon_get_local_array_read

  interface tenon_restore_array_read
    subroutine restore_array_read_real64(x, array, ierr) bind(C, name="TenonFRestoreArrayReadReal64")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_double), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_read_real64
    subroutine restore_array_read_real32(x, array, ierr) bind(C, name="TenonFRestoreArrayReadReal32")
      import
      type(tenon_dtensor), intent(in) :: x
      real(c_float), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_read_real32
    subroutine restore_array_read_int64(x, array, ierr) bind(C, name="TenonFRestoreArrayReadInt64")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int64_t), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_read_int64
    subroutine restore_array_read_int32(x, array, ierr) bind(C, name="TenonFRestoreArrayReadInt32")
      import
      type(tenon_dtensor), intent(in) :: x
      integer(c_int32_t), pointer, intent(inout) :: array(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine restore_array_read_int32
  end interface tenon_restore_array_read

end module tenon_arrays
