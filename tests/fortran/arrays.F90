! SPDX-License-Identifier: BSD-2-Clause
! Arrays in each form that a program can pass are used where they lie: the tensor's address and strides are those of
! the array, at ranks 1 to 7. VALUE is the type of the elements, VALUE_TYPE that of the tensor; the test is compiled
! for three types, without optimisation and with all of it.
module arrays_forms
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64, int32, int64
  use tenon
  use mpi_f08, only: MPI_COMM_WORLD
  implicit none
  type :: cell
    VALUE :: a, b, c
  end type cell
  integer :: checked = 0
contains

#define FORMS forms1
#define D(s) s
#define DSTAR *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms2
#define D(s) s, s
#define DSTAR 5, *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms3
#define D(s) s, s, s
#define DSTAR 5, 5, *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms4
#define D(s) s, s, s, s
#define DSTAR 5, 5, 5, *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms5
#define D(s) s, s, s, s, s
#define DSTAR 5, 5, 5, 5, *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms6
#define D(s) s, s, s, s, s, s
#define DSTAR 5, 5, 5, 5, 5, *
#include "arrays_of_rank.inc"
#undef FORMS
#undef D
#undef DSTAR
#define FORMS forms7
#define D(s) s, s, s, s, s, s, s
#define DSTAR 5, 5, 5, 5, 5, 5, *
#include "arrays_of_rank.inc"

  ! A tensor of 3 elements in each of its dimensions.
  subroutine make_tensor(dims, x)
    integer, intent(in) :: dims
    type(tenon_dtensor), intent(out) :: x
    type(tenon_layout) :: layout
    call tenon_layout_create_from_boxes(MPI_COMM_WORLD, spread(1, 1, dims), spread(3, 1, dims), layout)
    call tenon_dtensor_create(layout, VALUE_TYPE, x)
    call tenon_destroy(layout)
  end subroutine make_tensor

  ! Of an array with 5 elements in each dimension.
  function strides_of(dims) result(strides)
    integer, intent(in) :: dims
    integer :: strides(dims), i
    strides = [(5**(i - 1), i=1, dims)]
  end function strides_of

  subroutine expect(x, form, first, strides)
    type(tenon_dtensor), intent(in) :: x
    character(len=*), intent(in) :: form
    type(c_ptr), intent(in) :: first
    integer, intent(in) :: strides(:)
    type(c_ptr) :: address
    integer :: found(size(strides))
    call tenon_dtensor_get_array(x, VALUE_TYPE, address)
    call tenon_dtensor_restore_array(x, address)
    call tenon_dtensor_get_array(x, VALUE_TYPE, address)
    if (.not. c_associated(address, first)) then
      print *, 'rank', size(strides), ': ', form, ': the address is another one, the array was copied'
      error stop
    end if
    call tenon_dtensor_restore_array(x, address)
    call tenon_dtensor_get_strides(x, found)
    if (any(found /= strides)) then
      print *, 'rank', size(strides), ': ', form, ': the strides are', found, ', not', strides
      error stop
    end if
    checked = checked + 1
  end subroutine expect

  ! Blocks of one element in some dimensions, whose ghost cells lie as far apart as in any other array.
  subroutine thin
    type(tenon_layout) :: layout
    type(tenon_dtensor) :: x
    VALUE, target :: u(0:3, -1:2, 0:4)
    VALUE, pointer :: ghosts(:, :, :)
    integer :: extents(3), of(3), block, i
    u = reshape([(i, i=1, size(u))], shape(u))
    of = shape(u)
    do block = 0, 7
      extents = [(merge(of(i) - 2, 1, btest(block, i - 1)), i=1, 3)]
      call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [1, 1, 1], extents, layout)
      call set_halos(layout)
      call tenon_dtensor_create(layout, VALUE_TYPE, x)
      call tenon_place(x, u(1:extents(1), 0:extents(2) - 1, 1:extents(3)), &
                       array=u(0:extents(1) + 1, -1:extents(2), 0:extents(3) + 1))
      call tenon_get_array(x, ghosts)
      if (any(abs(ghosts - u(0:extents(1) + 1, -1:extents(2), 0:extents(3) + 1)) > 0)) then
        print *, 'a block of', extents, ' elements has other ghost cells'
        error stop
      end if
      call tenon_restore_array(x, ghosts)
      call tenon_destroy(x)
      call tenon_destroy(layout)
    end do
  end subroutine thin

  subroutine set_halos(layout)
    type(tenon_layout), intent(inout) :: layout
    type(tenon_layout) :: halos
    integer :: d
    call tenon_layout_create_like(layout, halos)
    do d = 1, 3
      call tenon_layout_set_halo(halos, d, 1, 1, TENON_BOUNDARY_VALUES, TENON_BOUNDARY_VALUES)
    end do
    call tenon_layout_set_up(halos)
    call tenon_destroy(layout)
    layout = halos
  end subroutine set_halos

  ! The imaginary part lies one element behind the number.
  subroutine expect_pair(x, form, number, strides)
    type(tenon_dtensor), intent(in) :: x
    character(len=*), intent(in) :: form
    type(c_ptr), intent(in) :: number
    integer, intent(in) :: strides(:)
    VALUE, pointer :: parts(:)
    call c_f_pointer(number, parts, [2])
    call expect(x, form, c_loc(parts(2)), strides)
  end subroutine expect_pair
end module arrays_forms

program arrays
  use arrays_forms
  use mpi_f08, only: MPI_Init, MPI_Finalize
  implicit none
  call MPI_Init()
  call tenon_initialize()
  call forms1
  call forms2
  call forms3
  call forms4
  call forms5
  call forms6
  call forms7
  call thin
  call tenon_finalize()
  call MPI_Finalize()
  if (checked < 7*10) error stop 'not all forms were checked'
  print '(i0, a)', checked, ' arrays are used where they lie'
end program arrays
