! SPDX-License-Identifier: BSD-2-Clause
! Arrays that are not those of the tensor are refused, with the code and the dimension named; the tensor keeps
! its memory.
program arrays_refused
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_COMM_WORLD
  use tenon
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  type(tenon_layout) :: layout, refused
  type(tenon_dtensor) :: x
  real(real64), target :: u(0:5, 0:4), other(6, 5), cube(4, 3, 2), channels(2, 4, 3)
  real(real32), target :: single(4, 3)
  real(real64), pointer :: p(:, :), line(:), everything(:, :, :), nowhere(:, :)
  real(real64), allocatable, target :: gone(:, :)
  real(real64) :: norm
  character(:), allocatable :: text
  integer :: ierr

  call MPI_Init()
  call tenon_initialize()
  call tenon_push_error_handler(tenon_return_error_handler)
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1], [4, 3], layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  u = 1
  call tenon_place(x, u(1:4, 1:3), array=u)

  ! Boxes from 0; boxes from 2, of which the library speaks in the order of C.
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 0], [4, 3], refused, ierr=ierr)
  call expect(TENON_ERR_LAYOUT, 'low(2) is 0; indices are counted from 1 in Fortran')
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 2], [4, 3], refused, ierr=ierr)
  call expect(TENON_ERR_LAYOUT, 'begin at 1 in dimension 0')
  call tenon_get_last_error_report(text)
  if (index(text, 'are those of C: counted from 0, x is the last') == 0) error stop 'the order is not said: '//text

  call tenon_place(x, u(1:4, 1:2), array=u, ierr=ierr)
  call tenon_get_last_error_report(text)
  if (index(text, 'those of C') > 0) error stop 'the order is not that of C: '//text
  call expect(TENON_ERR_SHAPE, 'dimension 2: the array has 2 elements, but this rank''s block has 3')
  call tenon_place(x, u(0:4, 1:3), ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'dimension 1: the array has 5 elements, but this rank''s block has 4')
  call tenon_place(x, single, ierr=ierr)
  call expect(TENON_ERR_DATATYPE, 'the array is real(real32), but the tensor is real(real64)')
  call tenon_place(x, u(1:4, 1), ierr=ierr)
  call expect(TENON_ERR_SHAPE, '1 dimensions, but this rank''s block has 3 elements in dimension 2')
  call tenon_place(x, cube, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'the array has 3 dimensions, but the tensor has 2')
  call tenon_place(x, other(1:4, 1:3), array=u, ierr=ierr)
  call expect(TENON_ERR_ARG, 'no section of `array`')
  call tenon_place(x, other(1:4, 1:5:2), array=other, ierr=ierr)
  call expect(TENON_ERR_ARG, 'no section of `array`')
  call tenon_place(x, cube(:, :, 2), array=cube, ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'array has 3 dimensions, but its interior has 2')
  call tenon_place(x, u(1:4, 1:3), array=u, order=[2, 1], ierr=ierr)
  call expect(TENON_ERR_SHAPE, 'dimension 1: the array has 3 elements, but this rank''s block has 4')
  call tenon_place(x, u(1:4, 1:3), array=u, order=[1, 1], ierr=ierr)
  call expect(TENON_ERR_ARG, 'order(2) is 1')
  call tenon_get_array(x, line, ierr)
  call expect(TENON_ERR_SHAPE, 'the pointer has 1 dimensions')
  if (associated(line)) error stop 'a pointer of the wrong rank is associated'

  ! The tensor is still u, and the pointer to it has the bounds of its box.
  call tenon_get_array(x, p)
  p(4, 3) = 3
  call tenon_restore_array(x, p)
  if (nint(u(4, 3)) /= 3) error stop 'the tensor is not the array any more'
  call tenon_dtensor_norm(x, norm)
  if (abs(norm - sqrt(11 + 9.0_real64)) > 1e-14_real64) error stop 'the norm is not that of the block'

  ! The channel first in memory; a slice; a pointer with a dimension more.
  channels = 2
  call tenon_place(x, channels(2, :, :), array=channels(2, :, :))
  call tenon_get_array(x, everything)
  if (any(shape(everything) /= [4, 3, 1])) error stop 'the pointer has other extents'
  everything = 7
  call tenon_restore_array(x, everything)
  if (any(nint(channels(2, :, :)) /= 7) .or. any(nint(channels(1, :, :)) /= 2)) error stop 'another channel was written'
  call transposed()
  call absent()
  call without_levels()

  call tenon_pop_error_handler()
  call tenon_destroy(x)
  call tenon_destroy(layout)
  call tenon_finalize()
  call MPI_Finalize()
contains
  subroutine expect(code, text)
    integer, intent(in) :: code
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: message
    call tenon_get_last_error(message)
    if (ierr /= code .or. index(message, text) == 0) then
      print *, 'expected ', tenon_error_name(code), ': ', text
      print *, 'got      ', tenon_error_name(ierr), ': ', message
      error stop
    end if
  end subroutine expect

  ! Bounds of what is not there say nothing.
  subroutine absent()
    character(len=*), parameter :: what = ' is an allocatable array that is not allocated, or a pointer that is not associated'
    type(tenon_layout) :: empty
    type(tenon_dtensor) :: nothing
    type(tenon_partition) :: partition
    nullify (nowhere)
    allocate (gone(4, 3))
    deallocate (gone)
    call tenon_place(x, nowhere, ierr=ierr)
    call expect(TENON_ERR_NULL, 'the array'//what)
    call tenon_place(x, gone, ierr=ierr)
    call expect(TENON_ERR_NULL, 'the array'//what)
    call tenon_place_read(x, nowhere, ierr=ierr)
    call expect(TENON_ERR_NULL, 'the array'//what)
    call tenon_layout_get_partition(layout, partition)
    call tenon_partition_share_memory(partition, gone, ierr=ierr)
    call expect(TENON_ERR_NULL, 'the array'//what)
    ! A rank without elements needs none.
    call tenon_layout_create_sharded(partition, [4, 0], 'S0,S1', empty)
    call tenon_destroy(partition)
    call tenon_dtensor_create(empty, TENON_FLOAT64, nothing)
    call tenon_place(nothing, nowhere)
    call tenon_place(nothing, gone)
    call tenon_destroy(nothing)
    call tenon_destroy(empty)
  end subroutine absent

  ! Any dimension of one element can be left out: a field of nodes as the tensor (1, nodes), with ghosts behind the nodes; and
  ! both of a column's, in either order.
  subroutine without_levels()
    type(tenon_layout) :: surface, column
    type(tenon_dtensor) :: eta, bottom
    real(real64), target :: nodes(7), profile(3, 2)
    real(real64), pointer :: found(:)
    integer :: k
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1], [1, 5], surface)
    call tenon_dtensor_create(surface, TENON_FLOAT64, eta)
    nodes = [(real(k, real64), k=1, 7)]
    call tenon_place(eta, nodes(1:5), array=nodes)
    call tenon_dtensor_scale(2.0_real64, eta)
    if (any(nint(nodes) /= [2, 4, 6, 8, 10, 6, 7])) error stop 'the nodes are not those of the tensor'
    call tenon_get_array(eta, found)
    if (size(found) /= 5 .or. any(nint(found) /= [2, 4, 6, 8, 10])) error stop 'the pointer is not along the nodes'
    call tenon_restore_array(eta, found)
    call tenon_place(eta, nodes(2:6), order=[0, 1])
    call tenon_dtensor_scale(0.5_real64, eta)
    if (any(nint(nodes) /= [2, 2, 3, 4, 5, 3, 7])) error stop 'order leaves out another dimension'
    call tenon_place(eta, nodes(2:6), order=[1, 0], ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'dimension 1: the array has 5 elements, but this rank''s block has 1')
    call tenon_place(eta, nodes(2:6), order=[0, 0], ierr=ierr)
    call expect(TENON_ERR_ARG, 'order does not name dimension 1')
    call tenon_place(eta, nodes(1:4), ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'dimension 2: the array has 4 elements, but this rank''s block has 5')
    call tenon_destroy(eta)
    call tenon_destroy(surface)

    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1, 1, 1], [1, 2, 1, 3], column)
    call tenon_dtensor_create(column, TENON_FLOAT64, bottom)
    profile = reshape([1, 2, 3, 4, 5, 6], [3, 2])
    call tenon_place(bottom, profile, order=[2, 1])
    call tenon_get_array(bottom, p)
    if (any(shape(p) /= [2, 3]) .or. any(nint(p) /= transpose(nint(profile)))) error stop 'the profile has another order'
    call tenon_restore_array(bottom, p)
    call tenon_destroy(bottom)
    call tenon_destroy(column)
  end subroutine without_levels

  ! Ghost cells are found in each dimension of the array, whichever of the tensor's it is.
  subroutine transposed()
    type(tenon_layout) :: wide
    type(tenon_dtensor) :: y
    real(real64), target :: v(0:3, -1:6)
    call tenon_layout_create_like(layout, wide)
    call tenon_layout_set_halo(wide, 1, 2, 2, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO)
    call tenon_layout_set_halo(wide, 2, 1, 0, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO)
    call tenon_layout_set_up(wide)
    call tenon_dtensor_create(wide, TENON_FLOAT64, y)
    call tenon_place(y, v(1:3, 1:4), array=v, order=[2, 1])
    call tenon_place(y, v(1:3, 0:3), array=v, order=[2, 1], ierr=ierr)
    call expect(TENON_ERR_SHAPE, 'the layout needs 2 + 2 halo elements (low + high) in dimension 1, but the array has 1 + 3 ghost')
    call tenon_destroy(y)
    call tenon_destroy(wide)
  end subroutine transposed
end program arrays_refused
